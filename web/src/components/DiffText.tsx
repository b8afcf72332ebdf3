// A unified diff as coloured lines: for small ones, inside of cards.
const COLOURS: [string, string][] = [['+++', 'text-muted'], ['---', 'text-muted'], ['@@', 'text-muted bg-surface'], ['+', 'bg-added text-act'], ['-', 'bg-deleted text-critical']];
const MOST = 400;

export function DiffText({ diff }: { diff: string }) {
  const lines = diff.replace(/\n$/, '').split('\n');
  return (
    <pre tabIndex={0} className="max-h-96 overflow-auto bg-bg py-1">
      {lines.slice(0, MOST).map((line, index) => (
        <div key={index} className={`min-w-max px-3 ${COLOURS.find(([start]) => line.startsWith(start))?.[1] ?? ''}`}>{line || ' '}</div>
      ))}
      {lines.length > MOST && <div className="px-3 text-muted">… {lines.length - MOST}</div>}
    </pre>
  );
}
