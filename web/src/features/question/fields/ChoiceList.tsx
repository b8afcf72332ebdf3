import { popupRoot } from '@/components/Popup';
import { Combobox } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useMemo } from 'react';
import { useText } from '@/i18n';
import type { ControlProps, FieldOf } from './Control';
import { FieldFrame, inputClass, wired } from './frame';

interface Entry {
  value: number;
  label: string;
  description?: string;
}

/** One of many choices, found by typing. */
export function ChoiceList(props: ControlProps<FieldOf<'list'>>) {
  const t = useText('question');
  const { field, draft, onEnter } = props;
  const { id, name, state } = wired(props);
  const entered = draft[field.pointer];
  const entries = useMemo(() => field.choices.map((choice, value): Entry => ({ value, label: choice.label, ...(choice.description !== undefined && { description: choice.description }) })), [field.choices]);
  const chosen = Array.isArray(entered) ? (entries[Number(entered[0])] ?? null) : null;
  return (
    <FieldFrame {...props}>
      <Combobox.Root items={entries} value={chosen} onValueChange={(entry: Entry | null) => onEnter(field.pointer, entry === null ? undefined : [entry.value])}>
        <div className="relative max-w-96">
          <Combobox.Input id={id} {...name} {...state} placeholder={t('choose')} className={`${inputClass} pr-9`} />
          <Combobox.Trigger aria-label={t('choose')} className="absolute inset-y-0 right-0 flex w-9 items-center justify-center text-muted">
            <ChevronsUpDown className="size-4" aria-hidden="true" />
          </Combobox.Trigger>
        </div>
        <Combobox.Portal container={popupRoot()}>
          <Combobox.Positioner sideOffset={4} className="z-50">
            <Combobox.Popup className="max-h-64 w-(--anchor-width) overflow-y-auto rounded-md border bg-raised p-1 shadow-raised">
              <Combobox.Empty className="px-2 py-1.5 text-sm text-muted empty:hidden">{t('noneFound')}</Combobox.Empty>
              <Combobox.List>
                {(entry: Entry) => (
                  <Combobox.Item key={entry.value} value={entry} className="flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 py-1 data-highlighted:bg-surface pointer-coarse:min-h-11">
                    <span className="size-4 shrink-0">
                      <Combobox.ItemIndicator>
                        <Check className="size-4" aria-hidden="true" />
                      </Combobox.ItemIndicator>
                    </span>
                    <span className="min-w-0">
                      <span className="break-words">{entry.label}</span>
                      {entry.description !== undefined && <span className="block text-sm text-muted">{entry.description}</span>}
                    </span>
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    </FieldFrame>
  );
}
