/** Text in which backquotes mark code. */
export function Code({ text }: { text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index} className="font-normal">{part}</code> : part))}</>;
}
