import { DiffText } from '@/components/DiffText';
import { useText } from '@/i18n';
import type { JsonObject } from '@/lib/api/types';
import type { Call } from '@/lib/chat/rows';
import { KeptReasoning } from './Reasoning';
import { ToolResultBody } from './ToolResultCard';
import { ToolText } from './ToolText';
import { diffOf, errorOf } from './toolCall';

/** What a call was asked to do and what it answered. */
export function ToolDetails({ call, result, output }: Call & { output: string | undefined }) {
  const t = useText('chat');
  const args = (call.metadata.args ?? {}) as JsonObject;
  const diff = diffOf(result);
  const error = errorOf(result);
  return (
    <div className="my-1 ml-5.5 overflow-hidden rounded-md border bg-surface">
      <div className="px-3 empty:hidden"><KeptReasoning message={call} /></div>
      {typeof args.command === 'string' ? <ToolText label={t('command')} text={args.command} /> : !diff && <ToolText label={t('arguments')} text={readable(args)} hasLinks />}
      {output !== undefined && <ToolText label={t('output')} text={output} isLive />}
      {error && <p className="px-3 py-2 text-critical"><strong className="font-mono text-sm">{error.code}</strong> {error.message}</p>}
      {diff ? <DiffText diff={diff} /> : result && !error && <ToolResultBody message={result} />}
    </div>
  );
}

/** Arguments one by one; long ones keep their line breaks. */
function readable(args: JsonObject): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}`)
    .join('\n');
}
