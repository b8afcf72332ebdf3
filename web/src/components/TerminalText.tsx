import { useMemo } from 'react';
import { paintedOf } from '@/lib/ansi';
import { Linked } from './Linked';
import './TerminalText.css';

/** What a terminal printed, in its colours; nothing of it is markup. `hasLinks`: its paths open files. */
export function TerminalText({ text, hasLinks }: { text: string; hasLinks: boolean }) {
  const pieces = useMemo(() => paintedOf(text), [text]);
  return pieces.map(({ text: piece, look }, index) => {
    const content = hasLinks ? <Linked key={index} text={piece} /> : piece;
    return look === '' ? content : <span key={index} className={look}>{content}</span>;
  });
}
