// What can be done from here by its name: in the palette, and after a slash in the composer.
import type { LucideIcon } from 'lucide-react';
import { useEffect } from 'react';
import { create } from 'zustand';

export interface Command {
  /** What is typed after the slash. */
  name: string;
  label: string;
  icon: LucideIcon;
  /** As it stands on the keys. */
  keys?: string;
  /** What it wants to be told, if anything, as a placeholder. */
  wants?: string;
  /** Whether it does nothing without that. */
  needsWords?: boolean;
  run: (argument: string) => void;
}

type Scope = 'chat' | 'everywhere';
const useOffers = create<Record<Scope, Command[]>>(() => ({ chat: [], everywhere: [] }));

/** Offers commands as long as the component is there. They must be the same ones from one drawing to the next. */
export function useOffer(scope: Scope, commands: Command[]): void {
  useEffect(() => {
    useOffers.setState({ [scope]: commands });
    return () => useOffers.setState({ [scope]: [] });
  }, [scope, commands]);
}

export function useCommands(): Command[] {
  const { chat, everywhere } = useOffers();
  return [...chat, ...everywhere];
}

const offered = () => [...useOffers.getState().chat, ...useOffers.getState().everywhere];

/** The command that a message is, and what it is told; a path or any other word after a slash is none. */
export function commandIn(text: string, commands = offered()): { command: Command; argument: string } | null {
  const [, name, argument = ''] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const command = commands.find((one) => one.name === name);
  return command && (command.wants !== undefined || argument === '') ? { command, argument: argument.trim() } : null;
}

/** What looks like a command and is none, by its name: a mistyped one. */
export function mistypedIn(text: string, commands = offered()): string | null {
  const [, name] = /^\/([a-z-]+)(?:\s|$)/.exec(text.trim()) ?? [];
  return name !== undefined && commands.every((one) => one.name !== name) ? name : null;
}
