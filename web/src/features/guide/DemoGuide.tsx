import { Check, ChevronDown, X } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button, buttonClass } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { post } from '@/lib/chat/outbox';
import { openPanel } from '@/lib/layout';
import { setGuide } from '@/lib/preferences';
import { useTryDemo } from '@/lib/sample';
import { toastError } from '@/lib/toast';
import { useWorkspaces } from '@/lib/workspaces';
import { GUIDE_STEPS, guideStep, isStuck, type GuideStep } from './step';

/** Beside the demo: what is happening, and what to do next. */
export function DemoGuide() {
  const t = useText('start');
  const step = useChatView(guideStep);
  const stuck = useChatView((view) => isStuck(view, guideStep(view)));
  const [isOpen, setOpen] = useState(true);
  const place = GUIDE_STEPS.indexOf(step);
  const titles: Record<GuideStep, string> = { ask: t('askTitle'), read: t('readTitle'), plan: t('planTitle'), build: t('buildTitle'), done: t('doneTitle') };
  const texts: Record<GuideStep, string> = { ask: t('askText'), read: t('readText'), plan: t('planText'), build: t('buildText'), done: t('doneText') };
  return (
    <section aria-label={t('guide')} className="mb-2 rounded-lg border border-line2 bg-surface">
      <div className="flex items-center gap-1 py-0.5 pr-1 pl-3">
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="flex min-h-8 min-w-0 flex-1 items-center gap-2 text-left">
          <ChevronDown size={14} aria-hidden className={`shrink-0 transition-transform ${isOpen ? '' : '-rotate-90'}`} />
          <span className="shrink-0 text-xs text-fg2">{t('guideOf', { step: place + 1, count: GUIDE_STEPS.length })}</span>
          <strong className="min-w-0 truncate max-sm:text-sm">{titles[step]}</strong>
        </button>
        <ol className="flex shrink-0 gap-1 max-sm:hidden">
          {GUIDE_STEPS.map((one, index) => (
            <li key={one} aria-current={one === step ? 'step' : undefined} className={`grid size-4 place-items-center rounded-full border border-control text-xs ${index <= place ? 'border-fg bg-primary text-on-primary' : ''}`}>
              {index < place && <Check size={10} aria-hidden />}
              <span className="sr-only">{titles[one]}</span>
            </li>
          ))}
        </ol>
        <IconButton label={t('closeGuide')} onClick={() => setGuide('closed')}><X size={14} aria-hidden /></IconButton>
      </div>
      {isOpen && (
        <div className="flex flex-col gap-2 px-3 pb-3 max-sm:gap-1.5 max-sm:pb-2 max-sm:text-sm">
          <p role="status">{stuck ? t('stoppedText') : texts[step]}</p>
          <Deeds step={step} stuck={stuck} />
        </div>
      )}
    </section>
  );
}

function Deeds({ step, stuck }: { step: GuideStep; stuck: boolean }) {
  const t = useText('start');
  const { workspaceId, chatId } = useChatIds();
  const demo = useTryDemo();
  const path = useWorkspaces().data?.find((one) => one.id === workspaceId)?.path;
  const again = <Button onClick={() => demo.mutate()} disabled={demo.isPending}>{t('again')}</Button>;
  if (stuck) return <div>{again}</div>;
  if (step === 'ask') return <div><Button look="primary" onClick={() => void post(workspaceId, chatId, t('request')).catch(toastError)}>{t('ask', { request: t('request') })}</Button></div>;
  if (step !== 'done') return null;
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" onClick={() => openPanel('changes')}>{t('lookAtChanges')}</Button>
        <Link href="/settings/models" className={buttonClass('secondary')}>{t('setUp')}</Link>
        {again}
      </div>
      <p className="text-sm text-muted">{t('whatNext')} {path && <span className="break-all">{t('lies', { path })}</span>}</p>
    </>
  );
}
