import { useMemo } from 'react';
import { piecesOf } from '@/lib/paths';
import { FileLink } from './FileLink';

/** A text whose paths are links. */
export function Linked({ text }: { text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text]);
  return pieces.map(({ text: piece, place }, index) => (place ? <FileLink key={index} place={place}>{piece}</FileLink> : piece));
}
