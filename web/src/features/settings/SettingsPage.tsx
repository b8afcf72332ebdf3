import { Boxes, FolderCog, Keyboard, Plug, ShieldCheck, SunMoon, UserRound, Users, type LucideIcon } from 'lucide-react';
import { useEffect, useRef, type ComponentType } from 'react';
import { Link } from 'wouter';
import { Page } from '@/components/Page';
import { useText } from '@/i18n';
import { AccountSection } from './AccountSection';
import { AppearanceSection } from './AppearanceSection';
import { KeysSection } from './KeysSection';
import { ModelsSection } from './ModelsSection';
import { ModesSection } from './ModesSection';
import { RolesSection } from './RolesSection';
import { ServersSection } from './ServersSection';
import { WorkspacesSection } from './WorkspacesSection';

const SECTIONS = {
  models: [Boxes, ModelsSection],
  modes: [ShieldCheck, ModesSection],
  workspaces: [FolderCog, WorkspacesSection],
  servers: [Plug, ServersSection],
  roles: [Users, RolesSection],
  appearance: [SunMoon, AppearanceSection],
  keys: [Keyboard, KeysSection],
  account: [UserRound, AccountSection],
} as const satisfies Record<string, [LucideIcon, ComponentType]>;
type Name = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Name[];

/** The settings; each section has an address of its own. */
export function SettingsPage({ section }: { section: string | undefined }) {
  const t = useText('settings');
  const current = NAMES.find((name) => name === section) ?? 'models';
  const [, Content] = SECTIONS[current];
  const nav = useRef<HTMLElement>(null);
  // On a phone they are a row that is longer than the screen.
  // In braces: where scrolling gives a promise, it is nothing to clean up with.
  useEffect(() => { nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); }, [current]);
  return (
    <Page
      title={t('title')}
      aside={(
        <nav ref={nav} aria-label={t('sections')} className="shrink-0 border-line p-2 max-lg:overflow-x-auto max-lg:border-b lg:w-56 lg:border-r lg:p-3">
          <ul className="flex gap-1 lg:flex-col">
            {NAMES.map((name) => {
              const [Icon] = SECTIONS[name];
              const isCurrent = name === current;
              return (
                <li key={name}>
                  <Link
                    href={`/settings/${name}`}
                    aria-current={isCurrent ? 'page' : undefined}
                    className={`flex min-h-7 items-center gap-2.5 rounded-sm px-2.5 whitespace-nowrap pointer-coarse:min-h-11 ${isCurrent ? 'bg-sunken' : 'text-fg2 hover:bg-sunken hover:text-fg'}`}
                  >
                    <Icon size={15} aria-hidden className="shrink-0" />
                    {t(name)}
                  </Link>
                </li>
              );
            })}
          </ul>
        </nav>
      )}
    >
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-8 px-4 py-6"><Content /></div>
    </Page>
  );
}
