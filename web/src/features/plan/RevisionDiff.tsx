import { useMemo } from 'react';
import { useText } from '@/i18n';
import { type FieldChange, type ListChange, type Piece, type StepChange, comparePlans, hasChanges, isChanged } from './diff';
import type { Plan, Revision } from './model';

/** What a version changed, against an earlier one: added green, removed red, both also by sign and line. */
export function RevisionDiff({ before, after }: { before: Revision; after: Revision }) {
  const t = useText('plan');
  const change = useMemo(() => comparePlans(...comparable(before, after)), [before, after]);
  const lists: Record<ListChange['list'], string> = { risks: t('risks'), prerequisites: t('prerequisites'), assumptions: t('assumptions'), validation: t('validation') };
  return (
    <section aria-label={t('changesFrom', { before: before.revision, after: after.revision })} className="text-sm">
      <p className="px-4 pt-3 text-xs text-muted">{t('changesFrom', { before: before.revision, after: after.revision })}</p>
      {!hasChanges(change) && <p className="px-4 py-3">{t('noChanges')}</p>}
      {isChanged(change.goal) && <Changed title={t('goal')} pieces={change.goal} />}
      {isChanged(change.total) && <Changed title={t('time')} pieces={change.total} />}
      <ol className="divide-y">
        {change.steps.map((step, place) => (
          <ChangedStep key={place} change={step} />
        ))}
      </ol>
      {change.lists.map(({ list, entries }) => (
        <Changed key={list} title={lists[list]} pieces={entries} apart />
      ))}
    </section>
  );
}

/** What is not known of one version can't have changed. */
function comparable(before: Revision, after: Revision): [Plan, Plan] {
  const known = (one: Revision, other: Revision) => (one.isPartial ? { ...other.plan, goal: one.plan.goal, steps: one.plan.steps } : one.plan);
  return [known(before, after), known(after, before)];
}

function Changed({ title, pieces, apart = false }: { title: string; pieces: Piece[]; apart?: boolean }) {
  return (
    <div className="border-t px-4 py-2 first:border-t-0">
      <h3 className="font-semibold">{title}</h3>
      <Pieces pieces={pieces} apart={apart} />
    </div>
  );
}

function ChangedStep({ change }: { change: StepChange }) {
  const t = useText('plan');
  const common = useText('common');
  const fields: Record<FieldChange['field'], string> = { reason: t('reason'), files: t('files'), tools_needed: t('tools'), estimated_time: t('time'), verify: t('verify') };
  const signs = { same: '', changed: '~', added: '+', removed: '−' };
  const words = { same: '', changed: t('changed'), added: t('added'), removed: t('removed') };
  const looks = { same: 'text-muted', changed: '', added: 'bg-added', removed: 'bg-deleted' };
  return (
    <li data-change={change.kind} className={`flex gap-2.5 px-4 py-2 ${looks[change.kind]}`}>
      <span className="w-3 shrink-0 font-mono font-semibold" aria-hidden="true">
        {signs[change.kind]}
      </span>
      <div className="min-w-0 flex-1">
        {change.kind !== 'same' && <span className="sr-only">{words[change.kind]}{common('colon')}</span>}
        <span className={change.kind === 'removed' ? 'line-through' : ''}>
          {change.step.step_number}. {change.kind === 'changed' ? <Pieces pieces={change.action} /> : change.step.action}
        </span>
        {change.kind === 'changed' &&
          change.fields.map(({ field, pieces }) => (
            <div key={field}>
              <span className="font-semibold">{fields[field]}{common('colon')}</span>
              <Pieces pieces={pieces} apart={field === 'files' || field === 'tools_needed'} />
            </div>
          ))}
      </div>
    </li>
  );
}

/** `apart`: entries of a list rather than pieces of a sentence. */
function Pieces({ pieces, apart = false }: { pieces: Piece[]; apart?: boolean }) {
  return (
    <span className={apart ? 'inline-flex flex-wrap gap-x-2 gap-y-0.5' : 'break-words'}>
      {pieces.map((piece, place) => {
        if (piece.change === 'added') return <ins key={place} className="rounded-xs bg-act-soft px-0.5 text-act decoration-act/60">{piece.text}</ins>;
        if (piece.change === 'removed') return <del key={place} className="rounded-xs bg-critical-soft px-0.5 text-critical">{piece.text}</del>;
        return <span key={place}>{piece.text}</span>;
      })}
    </span>
  );
}
