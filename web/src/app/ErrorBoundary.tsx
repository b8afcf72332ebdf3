import { CircleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { Button } from '@/components/Button';
import { Notice } from '@/components/Notice';
import { useText } from '@/i18n';
import { isLoadFailure } from '@/lib/loading';

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    return this.state.error ? <Broken isOld={isLoadFailure(this.state.error)} /> : this.props.children;
  }
}

/** isOld: a part of the page could not be loaded, most often because the server was updated. */
function Broken({ isOld }: { isOld: boolean }) {
  const t = useText('common');
  return (
    <main className="flex h-full">
      <Notice icon={<CircleAlert size={24} aria-hidden />} title={t('broken')} hint={isOld ? t('partGone') : t('brokenHint')}>
        <Button look="primary" onClick={() => location.reload()}>{t('reload')}</Button>
      </Notice>
    </main>
  );
}
