import { useMutation } from '@tanstack/react-query';
import { CircleCheck, CircleX, PlugZap } from 'lucide-react';
import { Button } from '@/components/Button';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';

/** Asks the provider whether it knows the model, which costs nothing, and says what came of it. */
export function TestButton({ model, label }: { model: string; label?: string }) {
  const t = useText('settings');
  const test = useMutation({ mutationFn: () => settingsApi.testModel(model) });
  const outcome = test.data ?? (test.error ? { success: false, detail: test.error.message } : null);
  return (
    <>
      <Button onClick={() => test.mutate()} disabled={model.trim() === '' || test.isPending} aria-label={label}><PlugZap size={14} aria-hidden />{test.isPending ? t('testing') : t('test')}</Button>
      <div role="status" className="basis-full empty:hidden">
        {outcome && !test.isPending && (
          <p className={`flex items-start gap-1.5 break-words ${outcome.success ? 'text-act' : 'text-critical'}`}>
            {outcome.success ? <CircleCheck size={15} aria-hidden className="mt-0.5 shrink-0" /> : <CircleX size={15} aria-hidden className="mt-0.5 shrink-0" />}
            <span className="min-w-0"><strong>{outcome.success ? t('works') : t('worksNot')}</strong>: {outcome.detail}</span>
          </p>
        )}
      </div>
    </>
  );
}
