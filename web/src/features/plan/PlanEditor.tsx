import { Dialog } from '@base-ui/react/dialog';
import { CircleX, TriangleAlert, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { IconButton } from '@/components/IconButton';
import { Confirm } from '@/components/Modal';
import { popupClass } from '@/components/Popup';
import { useText } from '@/i18n';
import type { Finding } from '@/lib/api/types';
import { usePlanText } from './usePlanText';

/** Edits the plan file itself. The linter's findings appear while typing; invalid plans can't be saved. */
export default function PlanEditor({ planFile, close }: { planFile: string; close: () => void }) {
  const t = useText('plan');
  const common = useText('common');
  const area = useRef<HTMLTextAreaElement>(null);
  const { text, setText, isChanged, findings, problem, saving, save } = usePlanText(planFile, close);
  const [isLeaving, setLeaving] = useState(false);
  const stay = useRef<HTMLButtonElement>(null);
  const leave = () => (isChanged ? setLeaving(true) : close());
  const broken = findings.some((finding) => finding.gravity === 'error');
  return (
    <Dialog.Root open onOpenChange={(open) => !open && leave()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Popup initialFocus={area} className={`fixed top-1/2 left-1/2 flex h-[min(46rem,calc(100dvh-2rem))] w-[min(56rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-3 p-5 ${popupClass}`}>
          <div className="flex items-start justify-between gap-2">
            <div className="min-w-0">
              <Dialog.Title className="text-lg font-semibold">{t('editTitle')}</Dialog.Title>
              <Dialog.Description className="text-sm text-muted">{t('editHint')}</Dialog.Description>
            </div>
            <Dialog.Close render={<IconButton label={common('close')}><X size={16} aria-hidden="true" /></IconButton>} />
          </div>
          <textarea
            ref={area}
            value={text ?? ''}
            readOnly={text === undefined}
            aria-busy={text === undefined}
            aria-label={t('editText')}
            aria-invalid={broken}
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
            className="min-h-0 flex-1 resize-none rounded-sm border border-control bg-bg p-3 font-mono text-sm"
          />
          {text !== undefined && <Findings findings={findings} onGo={(finding) => area.current && selectLine(area.current, finding.line)} />}
          {problem !== null && (
            <p role="alert" className="text-sm text-critical">
              {problem}
            </p>
          )}
          <div className="flex flex-wrap items-center justify-end gap-2">
            {broken && <span className="mr-auto text-sm text-critical">{t('saveRefused')}</span>}
            <Button onClick={leave}>{common('cancel')}</Button>
            <Button look="primary" disabled={broken || saving || text === undefined} onClick={() => void save()}>
              {saving ? t('saving') : t('save')}
            </Button>
          </div>
          <Confirm isOpen={isLeaving} close={() => setLeaving(false)} title={t('leaveEditTitle')} hint={t('leaveEditHint')} safe={stay}>
            <Button ref={stay} onClick={() => setLeaving(false)}>{t('goOnEditing')}</Button>
            <Button look="danger" onClick={close}>{t('discard')}</Button>
          </Confirm>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Findings({ findings, onGo }: { findings: Finding[]; onGo: (finding: Finding) => void }) {
  const t = useText('plan');
  return (
    <section aria-label={t('findings', { count: findings.length })} className="shrink-0">
      <p role="status" className="text-sm font-medium">
        {findings.length === 0 ? t('noFindings') : t('findings', { count: findings.length })}
      </p>
      <ul className="max-h-32 overflow-y-auto text-sm">
        {findings.map((finding, place) => {
          const Icon = finding.gravity === 'error' ? CircleX : TriangleAlert;
          return (
            <li key={place}>
              <button type="button" onClick={() => onGo(finding)} className="flex min-h-6 w-full items-start gap-1.5 rounded-sm px-1 py-0.5 text-left hover:bg-surface">
                <Icon className={`mt-0.5 size-3.5 shrink-0 ${finding.gravity === 'error' ? 'text-critical' : 'text-major'}`} aria-label={finding.gravity === 'error' ? t('error') : t('warning')} />
                <span className="shrink-0 font-medium">{t('findingAt', { line: finding.line })}</span>
                <span className="min-w-0 break-words">{finding.message}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function selectLine(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((length, one) => length + one.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}
