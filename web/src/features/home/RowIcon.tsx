import { Check, CircleAlert, CircleHelp, CircleX, FileDiff, Globe, ListChecks, LoaderCircle, OctagonAlert, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { Row } from './rows';
import type { Text } from '@/i18n';

type Look = [icon: LucideIcon, colour: string, label: string];

function look(t: Text<'inbox'>, row: Row): Look {
  const { question } = row;
  if (question) {
    const { severity } = question;
    const label = t(`severity_${severity}`);
    if (severity === 'critical') return [OctagonAlert, 'text-critical', label];
    if (question.kind === 'plan_approval') return [ListChecks, 'text-fg2', label];
    if (question.call?.effects.some(({ effect }) => effect === 'network')) return [Globe, 'text-major', label];
    if (severity === 'major') return [TriangleAlert, 'text-major', label];
    return [question.kind === 'user' ? CircleHelp : CircleAlert, 'text-fg2', label];
  }
  if (row.group === 'running') return [LoaderCircle, 'text-mode motion-safe:animate-spin', t('running')];
  if (row.state === 'failed') return [CircleX, 'text-critical', t('failed')];
  return row.group === 'to_review' ? [FileDiff, 'text-fg2', t('to_review')] : [Check, 'text-fg2', t('recent')];
}

/** How grave the question is, or how the chat stands. */
export function RowIcon({ t, row }: { t: Text<'inbox'>; row: Row }) {
  const [Icon, colour, label] = look(t, row);
  return <Icon size={16} role="img" aria-label={label} className={`shrink-0 ${colour}`} />;
}
