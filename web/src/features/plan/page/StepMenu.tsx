import { Menu } from '@base-ui/react/menu';
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import type { ReactElement } from 'react';
import { itemClass, popupClass, popupRoot } from '@/components/Popup';
import { useText } from '@/i18n';
import { useReview } from './review';

/** Loaded when it is first opened, and then open. Not modal: its step may move away while it closes, and must not leave the page covered. */
export function StepMenu({ button, step }: { button: ReactElement; step: number }) {
  const t = useText('planPage');
  const { edits, plan } = useReview();
  return (
    <Menu.Root defaultOpen modal={false}>
      <Menu.Trigger render={button} />
      <Menu.Portal container={popupRoot()}>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className={`min-w-48 p-1 ${popupClass}`}>
            <Menu.Item className={itemClass} disabled={step === 1} onClick={() => void edits.move(step, step - 1)}><ArrowUp size={14} aria-hidden />{t('moveUp')}</Menu.Item>
            <Menu.Item className={itemClass} disabled={step === plan.steps.length} onClick={() => void edits.move(step, step + 1)}><ArrowDown size={14} aria-hidden />{t('moveDown')}</Menu.Item>
            <Menu.Item className={itemClass} onClick={() => edits.edit({ after: step })}><Plus size={14} aria-hidden />{t('addBelow')}</Menu.Item>
            <Menu.Item className={`${itemClass} text-critical`} disabled={plan.steps.length === 1} onClick={() => void edits.remove(step)}><Trash2 size={14} aria-hidden />{t('deleteStep')}</Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
