import { CopyButton } from '@/components/CopyButton';
import { TerminalText } from '@/components/TerminalText';

/** Text of a tool, in the colours of a terminal. `hasLinks`: it names files of the workspace. */
export function ToolText({ label, text, isLive = false, hasLinks = false }: { label: string; text: string; isLive?: boolean; hasLinks?: boolean }) {
  return (
    <div role="group" aria-label={label} className="relative border-b last:border-b-0">
      <pre tabIndex={0} aria-busy={isLive} className="max-h-80 overflow-auto px-3 py-2 pr-12 break-words whitespace-pre-wrap"><TerminalText text={text} hasLinks={hasLinks} /></pre>
      <div className="absolute top-1 right-1"><CopyButton text={text} /></div>
    </div>
  );
}
