import { useRef, type KeyboardEvent } from 'react';
import { ModeIcon } from '@/components/RoleIcon';
import { Tip } from '@/components/Tip';
import { useText } from '@/i18n';
import type { Mode } from '@/lib/api/types';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { modifier } from '@/lib/keys';
import { useRules } from '@/lib/workspaces';
import { useSwitch, useSwitching } from './switching';

const MODES = ['plan', 'act'] as const;
const ARROWS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']);

/** [ PLAN ] [ BUILD ]: shows the mode the server says, and asks for the other. */
export function ModeToggle() {
  const t = useText('mode');
  const switching = useText('switching');
  const common = useText('common');
  const current = useChatView((view) => view.chat.config.agent_mode);
  const isBusy = useSwitching((state) => state.isBusy);
  const request = useSwitch();
  const segments = useRef<Partial<Record<Mode, HTMLButtonElement | null>>>({});
  const choose = (mode: Mode) => {
    if (mode !== current && !isBusy) void request({ agent_mode: mode });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!ARROWS.has(event.key)) return;
    event.preventDefault();
    const next = current === 'plan' ? 'act' : 'plan';
    segments.current[next]?.focus();
    choose(next);
  };
  const labels = { plan: t('plan'), act: t('build') };
  const isPlanRequired = useRules(useChatIds().workspaceId).data?.policy.act_requires_plan;
  const hints = { plan: switching('planHint'), act: switching(isPlanRequired ? 'planRequired' : 'buildHint') };
  return (
    <div role="radiogroup" aria-label={t('mode')} aria-busy={isBusy} onKeyDown={onKeyDown} className="flex shrink-0 rounded-md bg-fg/8 p-0.5">
      {MODES.map((mode) => (
        <Tip key={mode} text={hints[mode] + common('aside', { text: `${modifier()}+.` })}>
          <button
            ref={(node) => { segments.current[mode] = node; }}
            type="button"
            role="radio"
            aria-checked={mode === current}
            tabIndex={mode === current ? 0 : -1}
            data-mode={mode}
            onClick={() => choose(mode)}
            className={`flex min-h-6.5 items-center gap-1.5 rounded-sm px-3 font-semibold disabled:opacity-55 max-lg:px-2 pointer-coarse:min-h-10 ${mode === current ? 'bg-mode text-on-mode' : 'font-medium text-fg2 hover:text-fg'}`}
          >
            <ModeIcon mode={mode} />
            <span className={mode === current ? '' : 'max-sm:sr-only'}>{labels[mode]}</span>
          </button>
        </Tip>
      ))}
    </div>
  );
}
