import { CircleAlert, Info, OctagonAlert, TriangleAlert, type LucideIcon } from 'lucide-react';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Message } from '@/lib/api/types';
import { RoleBadge } from './RoleBadge';

interface Finding {
  path: string;
  line?: number;
  severity: string;
  comment: string;
}

const ICONS: Record<string, [LucideIcon, string]> = { critical: [OctagonAlert, 'text-critical'], major: [TriangleAlert, 'text-major'], minor: [Info, 'text-muted'] };

/** A review: its summary, then the findings by place. */
export function ReviewCard({ message }: { message: Message }) {
  const t = useText('chat');
  const review = message.metadata.review as { summary: string; findings: Finding[] };
  return (
    <article aria-label={t('review')}>
      {message.agent_role && <RoleBadge role={message.agent_role} at={message.created_at} />}
      <div className="overflow-hidden rounded-lg border" data-role={message.agent_role}>
        <div className="border-b bg-role-soft px-4 py-2">
          <h2 className="text-xs font-semibold tracking-wide text-role uppercase">{t('reviewFindings', { count: review.findings.length })}</h2>
          <Markdown text={review.summary} />
        </div>
        <ul className="divide-y divide-line">
          {review.findings.map((finding, index) => <FindingRow key={index} finding={finding} />)}
        </ul>
      </div>
    </article>
  );
}

function FindingRow({ finding }: { finding: Finding }) {
  const [Icon, colour] = ICONS[finding.severity] ?? [CircleAlert, 'text-muted'];
  return (
    <li className="flex gap-2.5 px-4 py-2.5">
      <Icon size={16} aria-hidden className={`mt-1 shrink-0 ${colour}`} />
      <div className="min-w-0">
        <p className="flex flex-wrap items-baseline gap-2">
          <span className={`text-xs font-semibold uppercase ${colour}`}>{finding.severity}</span>
          <code className="break-all">{finding.line ? `${finding.path}:${finding.line}` : finding.path}</code>
        </p>
        <Markdown text={finding.comment} />
      </div>
    </li>
  );
}
