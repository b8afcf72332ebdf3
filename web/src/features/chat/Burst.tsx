import { LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { LineCounts } from '@/components/LineCounts';
import { useText } from '@/i18n';
import type { Call } from '@/lib/chat/rows';
import { ActivityLine, detailsClass } from './ActivityLine';
import { burstCounts, linesIn } from './burst';
import { CallCard } from './ToolCallCard';
import { summaryOf, toolOf } from './toolCall';

/** Consecutive calls that went well, as one line: "Read 14 files, searched 9 times". */
export function Burst({ calls }: { calls: Call[] }) {
  const t = useText('chat');
  const [isOpen, setOpen] = useState(false);
  const words = burstCounts(calls).map(([kind, count]) => t(kind, { count })).join(t('burstComma'));
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const running = calls.findLast(({ result }) => result === null);
  const lines = linesIn(calls);
  return (
    <article aria-label={title} className="text-sm">
      <ActivityLine isOpen={isOpen} toggle={() => setOpen(!isOpen)} mark={running && <LoaderCircle size={14} aria-hidden className="text-mode motion-safe:animate-spin" />}>
        {running && <code className="min-w-0 truncate">{toolOf(running.call)} {summaryOf(running.call)}</code>}
        <span className={`min-w-0 truncate ${running ? 'text-muted' : ''}`}>{title}</span>
        <LineCounts {...lines} />
      </ActivityLine>
      {isOpen && <div className={detailsClass}>{calls.map(({ call, result }) => <CallCard key={call.id} call={call} result={result} />)}</div>}
    </article>
  );
}
