import { useState } from 'react';
import { Choices } from '@/components/form';
import { Loaded } from '@/components/Loaded';
import { useText } from '@/i18n';
import type { Rules, Workspace, WorkspaceSettings } from '@/lib/api/types';
import { useRules } from '@/lib/workspaces';
import { ApprovalRules } from './ApprovalRules';
import { Section } from './Section';
import { useChangeSettings } from './useChangeSettings';
import { useWorkspaceChoice } from './useWorkspaceChoice';

/** Modes, what “go ahead” does, approvals, and what else holds in a workspace. */
export function ModesSection() {
  const t = useText('settings');
  const { workspace, choice, query } = useWorkspaceChoice();
  return (
    <Section title={t('modes')} hint={t('modesHint')}>
      <Loaded query={query}>{() => choice}</Loaded>
      {workspace && <OfWorkspace key={workspace.id} workspace={workspace} />}
    </Section>
  );
}

function OfWorkspace({ workspace }: { workspace: Workspace }) {
  const t = useText('settings');
  const rules = useRules(workspace.id);
  const isOwner = workspace.right === 'owner';
  return (
    <Loaded query={rules}>
      {(held) => (
        <div className="flex flex-col gap-6">
          {!isOwner && <p className="text-muted">{t('ownerOnly')}</p>}
          <Modes workspace={workspace} rules={held} />
          <ApprovalRules workspace={workspace} rules={held} />
          <Others rules={held} />
        </div>
      )}
    </Loaded>
  );
}

function Modes({ workspace, rules }: { workspace: Workspace; rules: Rules }) {
  const t = useText('settings');
  const change = useChangeSettings(workspace.id);
  // Shows the choice immediately; the server confirms it later.
  const [chosen, setChosen] = useState<WorkspaceSettings>({});
  const wanted: WorkspaceSettings = { ...workspace.settings, ...chosen };
  const choose = (settings: WorkspaceSettings) => {
    setChosen({ ...chosen, ...settings });
    change.mutate(settings, { onError: () => setChosen({}) });
  };
  const isDisabled = workspace.right !== 'owner';
  return (
    <>
      <Choices
        label={t('defaultMode')}
        value={wanted.default_mode ?? rules.default_mode}
        options={[['plan', t('modePlan'), t('modePlanHint')], ['act', t('modeAct'), t('modeActHint')], ['auto', t('modeAuto'), t('modeAutoHint')]]}
        choose={(default_mode) => choose({ default_mode })}
        isDisabled={isDisabled}
      />
      <Choices
        label={t('intent')}
        value={wanted.intent_switch ?? rules.intent_switch}
        options={[['switch', t('intentSwitch'), t('intentSwitchHint')], ['suggest', t('intentSuggest'), t('intentSuggestHint')], ['off', t('intentOff'), t('intentOffHint')]]}
        choose={(intent_switch) => choose({ intent_switch })}
        isDisabled={isDisabled}
      />
      <Choices
        label={t('classifier')}
        value={wanted.intent_classifier ?? rules.intent_classifier}
        options={[['off', t('classifierOff'), t('classifierOffHint')], ['model', t('classifierModel'), t('classifierModelHint')]]}
        choose={(intent_classifier) => choose({ intent_classifier })}
        isDisabled={isDisabled}
      />
    </>
  );
}

function Others({ rules }: { rules: Rules }) {
  const t = useText('settings');
  const byTool = Object.entries(rules.approvals.tools ?? {}).map(([tool, rule]) => `${tool}: ${t(rule)}`);
  const lines = [
    rules.policy.act_requires_plan && t('planRequired'),
    rules.policy.plan_requires_files && t('filesRequired'),
    rules.sandbox.enforced ? t('sandboxOn') : t('sandboxOff'),
    rules.sandbox.network ? t('networkOn') : t('networkOff'),
    rules.sandbox.inspect && t('inspectOn'),
    rules.secrets.length > 0 && t('secrets', { patterns: rules.secrets.join(', ') }),
    t('limits', { turns: rules.turns }),
    rules.cost != null && t('cost', { cost: rules.cost }),
    byTool.length > 0 && t('tools', { rules: byTool.join(', ') }),
  ].filter((line) => line !== false);
  return (
    <div>
      <h3 className="mb-1 font-medium">{t('others')}</h3>
      <ul className="list-disc pl-5 text-muted">{lines.map((line) => <li key={line}>{line}</li>)}</ul>
    </div>
  );
}
