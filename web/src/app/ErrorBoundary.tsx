import { CircleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { Button } from '@/components/Button';
import { Notice } from '@/components/Notice';
import { useText } from '@/i18n';

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    return this.state.error ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const t = useText('common');
  return (
    <main className="flex h-full">
      <Notice icon={<CircleAlert size={24} aria-hidden />} title={t('broken')} hint={t('brokenHint')}>
        <Button look="primary" onClick={() => location.reload()}>{t('reload')}</Button>
      </Notice>
    </main>
  );
}
