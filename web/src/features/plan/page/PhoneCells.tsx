import { FolderTree, TriangleAlert } from 'lucide-react';
import { useText } from '@/i18n';
import type { RailSection } from './PlanRail';
import { useReview } from './review';
import { pathKey } from './scope';

/** On a phone: the parts of the rail, each of which opens as a sheet. */
export function PhoneCells({ open }: { open: (section: RailSection) => void }) {
  const t = useText('planPage');
  const words = useText('plan');
  const { findings, plan, notes } = useReview();
  const files = new Set(plan.steps.flatMap((step) => step.files).map(pathKey)).size;
  const done = notes.answered.filter((note) => note.state === 'done').length;
  const cells: [RailSection, string, string][] = [
    ['findings', words('findings', { count: findings.length }), notes.answered.length > 0 ? t('outcomes', { done, count: notes.answered.length }) : t('linter')],
    ['scope', t('totalFiles', { files }), t('scope')],
    ['risks', String(plan.risks.length), words('risks')],
  ];
  return (
    <div className="plan-cells rounded-lg border border-line2">
      {cells.map(([section, title, hint]) => (
        <button key={section} type="button" aria-haspopup="dialog" onClick={() => open(section)} className="min-w-0 px-3 py-2 text-left">
          <span className="flex items-center gap-1.5 font-semibold">{section === 'findings' && findings.length > 0 && <TriangleAlert className="size-4 shrink-0 text-major" aria-hidden="true" />}{section === 'scope' && <FolderTree className="size-4 shrink-0 text-muted" aria-hidden="true" />}<span className="truncate">{title}</span></span>
          <span className="block truncate text-xs text-muted">{hint}</span>
        </button>
      ))}
    </div>
  );
}
