import { useState } from 'react';
import { Segments } from '@/components/Segments';
import { useText } from '@/i18n';
import type { AuditCount } from '@/lib/api/types';
import { isSwitch, isViolation, OTHERS, seriesOf, spansOf, type Series } from './series';
import { NARROWEST, StackedBars, type Shown } from './StackedBars';
import { useWidth } from './useWidth';

/** As many as there are series; the last is for what is put together. */
const COLOURS = ['var(--chart-1)', 'var(--chart-2)', 'var(--chart-3)', 'var(--chart-4)', 'var(--chart-5)', 'var(--chart-6)', 'var(--chart-8)'];
const SEVERITIES = { critical: 'var(--critical)', major: 'var(--major)', minor: 'var(--chart-8)' };
const CAUSES = { user: 'var(--chart-1)', approval: 'var(--chart-3)', intent: 'var(--chart-5)', auto: 'var(--chart-2)' };
const isIn = <T extends object>(key: string, all: T): key is Extract<keyof T, string> => key in all;

/** What happened over time. Days become weeks or so where there is no room for a bar each. */
export function Charts({ counts, days }: { counts: AuditCount[]; days: string[] }) {
  const t = useText('audit');
  const [by, setBy] = useState<'tool' | 'model'>('tool');
  const [frame, width] = useWidth();
  const wide = spansOf(days, Math.floor((width - 70) / NARROWEST));
  const half = spansOf(days, Math.floor(((width > 900 ? width / 2 : width) - 80) / NARROWEST));
  const coloured = (series: Series[]): Shown[] => series.map((one, place) => ({ ...one, label: one.key === OTHERS ? t('others') : one.key || t('you'), colour: COLOURS[place] ?? 'var(--chart-8)' }));
  const violations = coloured(seriesOf(counts.filter(isViolation), wide, (one) => (by === 'tool' ? one.tool : one.model)));
  const questions = seriesOf(counts.filter((one) => one.kind === 'question_asked'), half, (one) => one.severity, Object.keys(SEVERITIES));
  const switches = seriesOf(counts.filter(isSwitch), half, (one) => one.by, Object.keys(CAUSES));
  return (
    <div ref={frame} className="flex flex-col gap-4">
      <StackedBars
        title={t('violationsTitle')}
        hint={t('violationsHint')}
        spans={wide}
        series={violations}
        choice={<Segments label={t('by')} value={by} choose={setBy} choices={[['tool', t('byTool')], ['model', t('byModel')]]} />}
      />
      <div className="grid gap-4 min-[1160px]:grid-cols-2">
        <StackedBars title={t('questionsTitle')} hint={t('questionsHint')} spans={half} series={questions.map((one) => (isIn(one.key, SEVERITIES) ? { ...one, label: t(one.key), colour: SEVERITIES[one.key] } : { ...one, label: one.key, colour: 'var(--chart-8)' }))} />
        <StackedBars title={t('switchesTitle')} hint={t('switchesHint')} spans={half} series={switches.map((one) => (isIn(one.key, CAUSES) ? { ...one, label: t(one.key), colour: CAUSES[one.key] } : { ...one, label: one.key, colour: 'var(--chart-8)' }))} />
      </div>
    </div>
  );
}
