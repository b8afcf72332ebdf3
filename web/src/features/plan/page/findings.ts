// What the linter found in a plan's file, by step.
import type { Finding } from '@/lib/api/types';

export interface StepFinding extends Finding {
  /** Null for what belongs to no step. */
  step: number | null;
  /** The same for the same finding in a later version. */
  key: string;
}

export function findingsByStep(text: string, findings: readonly Finding[]): StepFinding[] {
  const starts = stepLines(text);
  return findings.map((finding) => {
    const step = stepAt(starts, finding.line);
    return { ...finding, step, key: `${step ?? 0} ${finding.message}` };
  });
}

interface StepLines {
  first: number[];
  end: number;
}

function stepAt({ first, end }: StepLines, line: number): number | null {
  if (line >= end) return null;
  const place = first.findLastIndex((start) => start <= line);
  return place < 0 ? null : place + 1;
}

const BULLET = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const indentOf = (line: string) => /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ').length ?? 0;

/** The first line of each step, and the line where the section ends. Lines count from 1. */
function stepLines(text: string): StepLines {
  const lines = text.split(/\r?\n/);
  const fenced = fencedLines(lines);
  const isHeading = (line: string, at: number) => !fenced[at] && /^##?(\s|$)/.test(line);
  const heading = lines.findIndex((line, at) => isHeading(line, at) && /^##\s+steps\s*:?\s*$/i.test(line));
  if (heading < 0) return { first: [], end: 0 };
  const next = lines.findIndex((line, at) => at > heading && isHeading(line, at));
  const end = next < 0 ? lines.length : next;
  const first: number[] = [];
  let indent = -1;
  for (let at = heading + 1; at < end; at += 1) {
    const line = lines[at] ?? '';
    if (fenced[at] || !BULLET.test(line) || (indent >= 0 && indentOf(line) >= indent + 2)) continue;
    if (indent < 0) indent = indentOf(line);
    first.push(at + 1);
  }
  return { first, end: end + 1 };
}

function fencedLines(lines: string[]): boolean[] {
  let fence = '';
  return lines.map((line) => {
    const mark = /^(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence === '') {
      fence = mark;
      return mark !== '';
    }
    if (mark.startsWith(fence) && line.trim() === mark) fence = '';
    return true;
  });
}
