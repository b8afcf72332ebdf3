import { Info, Terminal } from 'lucide-react';
import { useText } from '@/i18n';
import { shownName } from '@/lib/marks';
import type { PlanStep } from '../model';
import { CommentBox } from './CommentBox';
import type { DraftComment } from '@/lib/chat/planDrafts';
import { FindingLine } from './FindingLine';
import { NoteLine, DraftLine } from './NoteLine';
import { PlanFile } from './PlanFile';
import { useReview } from './review';

/** What stands below a step's words: its files and check, what the linter found, what was said about it. */
export function StepBody({ step, drafts }: { step: PlanStep; drafts: DraftComment[] }) {
  const { findings, notes } = useReview();
  const number = step.step_number;
  const own = [...notes.answered, ...notes.waiting].filter((note) => note.step === number);
  return (
    <>
      <Facts step={step} />
      {findings.filter((finding) => finding.step === number).map((finding) => <FindingLine key={finding.key} finding={finding} />)}
      {own.map((note) => <NoteLine key={note.id} note={note} />)}
      {drafts.map((one) => (one.isOpen ? <CommentBox key={one.id} comment={one} step={number} /> : <DraftLine key={one.id} comment={one} />))}
    </>
  );
}

function Facts({ step }: { step: PlanStep }) {
  const t = useText('planPage');
  const { isPhone } = useReview();
  const check = step.verify ?? '';
  return (
    <div className={`mt-1 flex gap-x-4 text-muted ${isPhone ? 'flex-col' : 'flex-wrap items-center'}`}>
      {step.files.map((file) => <PlanFile key={file} path={file} />)}
      {check === '' ? (
        <span className="flex items-center gap-1.5 text-xs"><Info className="size-3.5" aria-hidden="true" />{t('noCheck')}</span>
      ) : (
        <code title={t('check')} className="flex max-w-full min-w-0 items-center gap-1.5 text-[11.5px] break-all plan-check"><Terminal className="size-3 shrink-0" aria-label={t('check')} />{shownName(check)}</code>
      )}
    </div>
  );
}
