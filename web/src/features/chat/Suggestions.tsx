import { FileText } from 'lucide-react';
import { useEffect, type RefObject } from 'react';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { useCommands, type Command } from '@/lib/commands';
import { useFiles } from '@/lib/files';
import { useProblemLine } from '@/lib/problems';
import { shownName } from '@/lib/marks';
import { LIST_ID, optionId } from './suggestionIds';
import type { Trigger } from './trigger';

const MOST = 8;
/** Something that can be put into the message, or done instead of it. */
export interface Suggested {
  name: string;
  command?: Command;
}

interface Props {
  trigger: Trigger;
  /** Whose files are offered. */
  workspaceId: string;
  /** Which one Enter takes. */
  place: number;
  /** What is offered, for the keys of the composer. */
  offered: RefObject<Suggested[]>;
  choose: (suggested: Suggested) => void;
}

/** Commands after a slash, files after an @. The focus stays in the message. */
export function Suggestions({ trigger, ...rest }: Props) {
  return trigger.kind === 'command' ? <OfCommands typed={trigger.typed} {...rest} /> : <OfFiles typed={trigger.typed} {...rest} />;
}

type ListProps = Omit<Props, 'trigger'> & { typed: string };

function OfCommands({ typed, workspaceId: _, ...rest }: ListProps) {
  const t = useText('chat');
  const low = typed.toLowerCase();
  const commands = useCommands();
  const named = commands.filter(({ name }) => name.startsWith(low));
  const told = low === '' ? [] : commands.filter((one) => !named.includes(one) && one.label.toLowerCase().includes(low));
  const found = [...named, ...told];
  return <List label={t('commands')} all={found.map((command) => ({ name: command.name, command }))} {...rest} />;
}

function OfFiles({ typed, workspaceId, ...rest }: ListProps) {
  const t = useText('chat');
  const lineOf = useProblemLine();
  const files = useFiles(workspaceId, typed, MOST);
  if (files.error) return <p role="alert" className="border-b px-3 py-2 text-sm text-critical">{lineOf(files.error)}</p>;
  if (files.data?.length === 0) return <p className="border-b px-3 py-2 text-sm text-muted">{t('noFiles', { typed })}</p>;
  return <List label={t('files')} all={(files.data ?? []).map((name) => ({ name }))} {...rest} />;
}

function List({ label, all, place, offered, choose }: Omit<Props, 'trigger' | 'workspaceId'> & { label: string; all: Suggested[] }) {
  const t = useText('chat');
  offered.current = all;
  useEffect(() => () => { offered.current = []; }, [offered]);
  useEffect(() => announce(t('suggestions', { count: all.length })), [all.length, t]);
  const at = Math.min(place, all.length - 1);
  useEffect(() => { document.getElementById(optionId(at))?.scrollIntoView({ block: 'nearest' }); }, [at]);
  if (all.length === 0) return null;
  return (
    <ul id={LIST_ID} role="listbox" tabIndex={0} aria-label={label} className="max-h-64 overflow-y-auto border-b p-1">
      {all.map(({ name, command }, index) => {
        const Icon = command?.icon ?? FileText;
        return (
          <li
            key={name}
            id={optionId(index)}
            role="option"
            aria-selected={index === at}
            // Not `click`: that would take the focus from the message first.
            onMouseDown={(event) => { event.preventDefault(); choose({ name, ...(command && { command }) }); }}
            className="flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 aria-selected:bg-sunken pointer-coarse:min-h-11"
          >
            <Icon size={14} aria-hidden className="shrink-0 text-muted" />
            <span className="shrink-0 font-mono text-sm">{command ? `/${name}` : shownName(name)}</span>
            {command && <span className="min-w-0 truncate text-muted">{command.label}</span>}
            {command?.keys && <kbd className="ml-auto shrink-0 text-xs text-muted">{command.keys}</kbd>}
          </li>
        );
      })}
    </ul>
  );
}
