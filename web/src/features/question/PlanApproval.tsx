import { TriangleAlert } from 'lucide-react';
import { type KeyboardEvent, useState } from 'react';
import { FileLink } from '@/components/FileLink';
import { Markdown } from '@/components/markdown/Markdown';
import { Button } from '@/components/Button';
import { UnsentRemarks } from '@/components/UnsentRemarks';
import { DriftNotice } from '@/components/Warning';
import { Words } from '@/components/Words';
import { useText } from '@/i18n';
import type { Json } from '@/lib/api/types';
import { useDrift } from '@/lib/chat/drift';
import { useRemarks } from '@/lib/chat/remarks';
import { openPanel } from '@/lib/layout';
import { BarFoot, titleClass } from './BarFrame';
import { ButtonRow } from './ButtonRow';
import { inputClass } from './fields/frame';
import { isObject } from './json';
import type { useAnswering } from './useAnswering';
import type { QuestionView } from './view';

interface Props {
  view: QuestionView;
  given: ReturnType<typeof useAnswering>;
  /** Whether the plan is another than the one that the history shows last. */
  edited: boolean;
}

/** The plan's approval: what would be approved, the model's remark, and a place to say what should change instead. */
export function PlanApproval({ view, given, edited }: Props) {
  const t = useText('question');
  const item = view.items[0];
  const plan = view.plan ?? {};
  const steps = stepsOf(plan.steps);
  const remarks = useRemarks({ steps }, Number(plan.revision ?? 1));
  const [isAsking, setAsking] = useState(false);
  const drift = useDrift(String(plan.sha256 ?? ''), true).files;
  /** Nothing that was written is lost: what can't go along is asked about. */
  const decide = async (value: Json) => {
    if (value === true && remarks.has && !isAsking) return setAsking(true);
    setAsking(false);
    const whole = remarks.whole.trim();
    const comment = value === true ? undefined : remarks.count > 0 ? remarks.message() : whole || undefined;
    if (await given.pick(value, comment)) remarks.discard();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Feedback is never taken for approval.
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing && remarks.has) void decide(false);
  };
  if (item === undefined) return null;
  return (
    <div className="flex flex-col gap-3">
      <div>
        <p className={titleClass}>{t('planTitle', { revision: Number(plan.revision ?? 1), count: steps.length })}</p>
        <p className="break-words"><Words text={String(plan.goal ?? '')} /></p>
        <p className="break-words text-muted"><code>{typeof plan.plan_file === 'string' && <FileLink place={{ path: plan.plan_file, line: null }}>{plan.plan_file}</FileLink>}</code></p>
      </div>
      {edited && <p className="flex items-start gap-2 text-major"><TriangleAlert className="mt-0.75 size-3.5 shrink-0" aria-hidden="true" />{t('planEdited')}</p>}
      {drift.length > 0 && <DriftNotice files={drift} isOver={false} />}
      {item.context !== undefined && (
        <div className="text-sm">
          <Markdown text={item.context} />
        </div>
      )}
      <textarea
        value={remarks.whole}
        rows={1}
        aria-label={t('feedback')}
        placeholder={t('feedback')}
        onChange={(event) => remarks.setWhole(event.target.value)}
        onKeyDown={onKeyDown}
        className={`${inputClass} field-sizing-content max-h-32`}
      />
      {remarks.count > 0 && <p className="text-sm">{t('remarksGoAlong', { count: remarks.count })}</p>}
      <BarFoot>
        {given.problem !== null && (
          <p role="alert" className="text-sm text-critical">
            {given.problem}
          </p>
        )}
        <ButtonRow
          label={item.text}
          digits="press"
          isHeld={given.held || given.sending}
          buttons={item.buttons.map((button) => ({
            label: button.value === true ? t('acceptBuild') : t('keepPlanning'),
            look: button.value === true ? 'primary' : 'secondary',
            onPress: () => void decide(button.value),
          }))}
        >
          <Button look="quiet" onClick={() => openPanel('plan')}>{t('showPlan')}</Button>
        </ButtonRow>
      </BarFoot>
      <UnsentRemarks isOpen={isAsking} close={() => setAsking(false)} confirm={() => void decide(true)} />
    </div>
  );
}

/** As far as remarks on them need them. */
function stepsOf(raw: Json | undefined): { step_number: number; action: string }[] {
  return (Array.isArray(raw) ? raw : []).filter(isObject).map((step, place) => ({ step_number: Number(step.step_number ?? place + 1), action: String(step.action ?? '') }));
}
