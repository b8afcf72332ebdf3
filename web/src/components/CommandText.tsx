import { CopyButton } from './CopyButton';

/** What to type or to write into a file, with a button that copies it. */
export function CommandText({ text }: { text: string }) {
  return (
    <div className="flex items-start gap-1 rounded-md border bg-surface py-1 pr-1 pl-3">
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto py-1">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}
