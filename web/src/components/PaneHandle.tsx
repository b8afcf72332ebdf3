import type { KeyboardEvent, PointerEvent } from 'react';
import { useText } from '@/i18n';
import { PANES, setWidth, useWidth, type PaneName } from '@/lib/panes';

const STEP = 16;

/** The edge of a pane, to be dragged or moved by the arrow keys. `side` is the edge of the pane that it is. */
export function PaneHandle({ pane, side }: { pane: PaneName; side: 'left' | 'right' }) {
  const t = useText('common');
  const width = useWidth(pane);
  const grows = side === 'right' ? 1 : -1;
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    const from = event.clientX - grows * width;
    const node = event.currentTarget;
    node.setPointerCapture(event.pointerId);
    const move = (moved: globalThis.PointerEvent) => setWidth(pane, grows * (moved.clientX - from));
    node.addEventListener('pointermove', move);
    node.addEventListener('lostpointercapture', () => node.removeEventListener('pointermove', move), { once: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const widths: Record<string, number> = { ArrowRight: width + grows * STEP, ArrowLeft: width - grows * STEP, Home: PANES[pane].least, End: PANES[pane].most };
    const wanted = widths[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    setWidth(pane, wanted);
  };
  return (
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t(pane === 'sidebar' ? 'sidebarWidth' : 'panelWidth')}
      aria-valuenow={width}
      aria-valuemin={PANES[pane].least}
      aria-valuemax={PANES[pane].most}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      onDoubleClick={() => setWidth(pane, PANES[pane].usual)}
      className={`absolute inset-y-0 z-20 w-1.5 cursor-col-resize touch-none hover:bg-line2 ${side === 'right' ? '-right-1' : '-left-1'}`}
    />
  );
}
