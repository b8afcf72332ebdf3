import { SearchX } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '@/components/Button';
import { Notice } from '@/components/Notice';
import { useText } from '@/i18n';

export function NotFound() {
  const t = useText('common');
  return (
    <main id="content" className="flex h-full">
      <Notice icon={<SearchX size={24} aria-hidden />} title={t('notFound')} hint={t('notFoundHint')}>
        <Link href="/" className={buttonClass('primary')}>{t('toHome')}</Link>
      </Notice>
    </main>
  );
}
