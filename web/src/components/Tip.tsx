import { Tooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

/** Explains `children`, a single element, when pointed at or focused. */
export function Tip({ text, children }: { text: string; children: ReactElement<Record<string, unknown>> }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="z-50">
          <Tooltip.Popup className="max-w-72 rounded-sm bg-fg px-2 py-1 text-sm text-bg shadow-raised">{text}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
