import { Boxes, Play } from 'lucide-react';
import { Link } from 'wouter';
import { Button, buttonClass } from '@/components/Button';
import { useText } from '@/i18n';
import { isDemo } from '@/lib/demo';
import { useTryDemo } from '@/lib/sample';
import { useMe } from '@/lib/workspaces';

/** Without a model: how to get one, and the demo meanwhile. With the demo: that it is one. */
export function ModelNotice() {
  const t = useText('start');
  if (isDemo(useMe().data?.models.plan)) {
    return (
      <section aria-label={t('guide')} className="flex flex-col gap-3 rounded-md bg-surface px-4 py-3">
        <p>{t('demoHere')}</p>
        <div className="flex flex-wrap gap-2"><DemoButton /><SetUpLink look="secondary" words={t('ownModel')} /></div>
      </section>
    );
  }
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Card title={t('noModelTitle')} hint={t('noModelHint')}><SetUpLink look="primary" words={t('setUp')} /></Card>
      <Card title={t('demoTitle')} hint={t('demoHint')}><DemoButton look="secondary" /></Card>
    </div>
  );
}

function Card({ title, hint, children }: { title: string; hint: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2 rounded-lg border border-line2 p-4">
      <h2 className="font-semibold">{title}</h2>
      <p className="flex-1 text-muted">{hint}</p>
      <div>{children}</div>
    </section>
  );
}

function SetUpLink({ look, words }: { look: 'primary' | 'secondary'; words: string }) {
  return <Link href="/settings/models" className={buttonClass(look)}><Boxes size={15} aria-hidden />{words}</Link>;
}

function DemoButton({ look = 'primary' }: { look?: 'primary' | 'secondary' }) {
  const t = useText('start');
  const demo = useTryDemo();
  return <Button look={look} onClick={() => demo.mutate()} disabled={demo.isPending}><Play size={15} aria-hidden />{demo.isPending ? t('making') : t('tryDemo')}</Button>;
}
