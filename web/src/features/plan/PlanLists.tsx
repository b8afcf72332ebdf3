import { ClipboardCheck, Lightbulb, ListChecks, type LucideIcon, TriangleAlert } from 'lucide-react';
import { Words } from '@/components/Words';
import { useText } from '@/i18n';
import type { Plan } from './model';

/** What stands beside the steps: risks, prerequisites, assumptions, validation. */
export function PlanLists({ plan }: { plan: Plan }) {
  const t = useText('plan');
  const lists: { title: string; entries: string[]; Icon: LucideIcon; look: string }[] = [
    { title: t('risks'), entries: plan.risks, Icon: TriangleAlert, look: 'text-major' },
    { title: t('prerequisites'), entries: plan.prerequisites, Icon: ListChecks, look: 'text-muted' },
    { title: t('assumptions'), entries: plan.assumptions, Icon: Lightbulb, look: 'text-muted' },
    { title: t('validation'), entries: plan.validation, Icon: ClipboardCheck, look: 'text-muted' },
  ];
  const shown = lists.filter((list) => list.entries.length > 0);
  if (shown.length === 0) return null;
  return (
    <div className="mx-4 flex flex-col gap-2 border-t py-3">
      {shown.map(({ title, entries, Icon, look }) => (
        <div key={title} className="flex gap-2.5">
          <Icon className={`mt-0.5 size-3.5 w-4.5 shrink-0 ${look}`} aria-hidden="true" />
          <div className="min-w-0">
            <h3 className="font-semibold">{title}</h3>
            <ul className="list-disc pl-4">
              {entries.map((entry, place) => (
                <li key={place} className="break-words">
                  <Words text={entry} />
                </li>
              ))}
            </ul>
          </div>
        </div>
      ))}
    </div>
  );
}
