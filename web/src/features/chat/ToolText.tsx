import { CopyButton } from '@/components/CopyButton';

/** Text of a tool, as it is. */
export function ToolText({ label, text, isLive = false }: { label: string; text: string; isLive?: boolean }) {
  return (
    <div role="group" aria-label={label} className="relative border-b last:border-b-0">
      <pre tabIndex={0} aria-busy={isLive} className="max-h-80 overflow-auto px-3 py-2 pr-12 break-words whitespace-pre-wrap">{text}</pre>
      <div className="absolute top-1 right-1"><CopyButton text={text} /></div>
    </div>
  );
}
