import { ClipboardCheck, Lightbulb, ListChecks, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Words } from '@/components/Words';
import { useText } from '@/i18n';
import { shownText } from '@/lib/marks';
import { FindingIcon } from './FindingLine';
import { NoteIcon, useNoteWords } from './NoteLine';
import { useReview } from './review';
import { pathKey } from './scope';
import { ScopeCounts, ScopeTree } from './ScopeTree';
import { focusStep } from './focusStep';

/** More findings than this are only at their steps. */
const MOST_LISTED = 20;

export type RailSection = 'findings' | 'scope' | 'risks';

/** Beside the steps: what became of comments, what the linter found, the files, and the plan's lists. `only` is the one that a phone shows. */
export function PlanRail({ only }: { only?: RailSection | undefined }) {
  const isShown = (section: RailSection) => only === undefined || only === section;
  return (
    <div className="plan-rail-lists flex flex-col divide-y">
      {isShown('findings') && <Comments />}
      {isShown('findings') && <Findings />}
      {isShown('scope') && <Scope />}
      {isShown('risks') && <Lists />}
    </div>
  );
}

function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-1.5 flex items-baseline gap-2 font-semibold">{title}<span className="flex-1 text-xs font-normal text-muted">{aside}</span></h2>
      {children}
    </section>
  );
}

/** A line that leads to its step. */
function Lead({ step, icon, children }: { step: number | null; icon: ReactNode; children: ReactNode }) {
  const t = useText('planPage');
  const { setCurrent } = useReview();
  const go = () => {
    if (step === null) return;
    setCurrent(step);
    focusStep(step);
  };
  const words = <>{icon}<span className="min-w-0 break-words">{step !== null && <span className="font-semibold">{t('onStep', { step })} </span>}{children}</span></>;
  if (step === null) return <li className="flex items-start gap-2 py-0.5">{words}</li>;
  return <li><button type="button" onClick={go} className="flex min-h-6 w-full items-start gap-2 rounded-sm py-0.5 plan-lead text-left pointer-coarse:min-h-11">{words}</button></li>;
}

function Comments() {
  const t = useText('planPage');
  const words = useNoteWords();
  const { notes } = useReview();
  const { answered, on } = notes;
  if (answered.length === 0) return null;
  const done = answered.filter((note) => note.state === 'done').length;
  return (
    <Section title={t('commentsOn', { revision: on ?? 1 })} aside={t('outcomes', { done, count: answered.length })}>
      <ul data-outcomes>
        {answered.map((note) => (
          <Lead key={note.id} step={note.step} icon={<NoteIcon state={note.state} />}>
            {shownText(note.text)} <span className="text-muted">{words[note.state]}{note.isGone && `, ${t('stepGone')}`}{note.step === null && note.answer !== '' && `: ${shownText(note.answer)}`}</span>
          </Lead>
        ))}
      </ul>
    </Section>
  );
}

function Findings() {
  const t = useText('planPage');
  const { findings, isNewest } = useReview();
  if (!isNewest) return null;
  return (
    <Section title={t('findings')} aside={findings.length > 0 ? findings.length : undefined}>
      {findings.length === 0 && <p className="text-fg2">{t('noFindings')}</p>}
      <ul>
        {findings.slice(0, MOST_LISTED).map((finding) => <Lead key={finding.key} step={finding.step} icon={<FindingIcon finding={finding} />}><Words text={shownText(finding.message)} /> <span className="text-muted">{t('linter')}</span></Lead>)}
      </ul>
      {findings.length > MOST_LISTED && <p className="text-muted">{t('moreFindings', { count: findings.length - MOST_LISTED })}</p>}
    </Section>
  );
}

function Scope() {
  const t = useText('planPage');
  const { plan, signOf } = useReview();
  const files = [...new Set(plan.steps.flatMap((step) => step.files).map(pathKey))];
  const counts = { files: files.length, fresh: files.filter((file) => signOf(file) === 'new').length, changed: files.filter((file) => signOf(file) === 'changed').length };
  return (
    <Section title={t('scope')} aside={<span className="flex justify-between">{t('totalFiles', { files: files.length })}<ScopeCounts node={{ isFolder: true, counts }} /></span>}>
      <ScopeTree />
    </Section>
  );
}

function Lists() {
  const t = useText('plan');
  const { plan } = useReview();
  const lists: [string, string[], LucideIcon][] = [
    [t('risks'), plan.risks, TriangleAlert],
    [t('prerequisites'), plan.prerequisites, ListChecks],
    [t('assumptions'), plan.assumptions, Lightbulb],
    [t('validation'), plan.validation, ClipboardCheck],
  ];
  return lists.filter(([, entries]) => entries.length > 0).map(([title, entries, Icon]) => (
    <Section key={title} title={title} aside={entries.length}>
      <ul>
        {entries.map((entry, place) => <li key={place} className="flex items-start gap-2 py-0.5"><Icon className="mt-0.75 size-3.5 shrink-0 text-muted" aria-hidden="true" /><span className="min-w-0 break-words"><Words text={shownText(entry)} /></span></li>)}
      </ul>
    </Section>
  ));
}
