import { CircleAlert, Info, OctagonAlert, TriangleAlert, type LucideIcon } from 'lucide-react';
import { FileLink } from '@/components/FileLink';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import type { Message, Severity } from '@/lib/api/types';
import { RoleBadge } from './RoleBadge';

interface Finding {
  path: string;
  line?: number;
  severity: string;
  comment: string;
}

const ICONS: Record<string, [LucideIcon, string]> = { critical: [OctagonAlert, 'text-critical'], major: [TriangleAlert, 'text-major'], minor: [Info, 'text-muted'] };

const SEVERITIES: Severity[] = ['critical', 'major', 'minor'];

/** A review: its summary, then the findings by place. */
export function ReviewCard({ message }: { message: Message }) {
  const t = useText('chat');
  const review = message.metadata.review as { summary: string; findings: Finding[] };
  return (
    <article className="group" aria-label={t('review')}>
      {message.agent_role && <RoleBadge role={message.agent_role} at={message.created_at} />}
      <Markdown text={review.summary} />
      <h2 className="mt-2 font-semibold">{t('reviewFindings', { count: review.findings.length })}</h2>
      {review.findings.length === 0 && <p className="py-1.5 text-muted">{t('noFindings')}</p>}
      <ul className="mt-1 divide-y divide-line border-t">
        {review.findings.map((finding, index) => <FindingRow key={index} finding={finding} />)}
      </ul>
    </article>
  );
}

function FindingRow({ finding }: { finding: Finding }) {
  const t = useText('chat');
  const place = finding.line ? `${finding.path}:${finding.line}` : finding.path;
  const [Icon, colour] = ICONS[finding.severity] ?? [CircleAlert, 'text-muted'];
  return (
    <li className="flex gap-2.5 py-2">
      <Icon size={16} aria-hidden className={`mt-0.5 shrink-0 ${colour}`} />
      <div className="min-w-0">
        <p className="flex flex-wrap items-baseline gap-2">
          <span className={`text-xs font-medium ${colour}`}>{SEVERITIES.includes(finding.severity as Severity) ? t(`sev_${finding.severity as Severity}`) : finding.severity}</span>
          <FileLink place={{ path: finding.path, line: finding.line ?? null }} className="font-mono text-xs wrap-anywhere">{place}</FileLink>
        </p>
        <Markdown text={finding.comment} />
      </div>
    </li>
  );
}
