import { Select } from '@/components/form';
import { useText } from '@/i18n';
import type { Rule, Rules, Workspace } from '@/lib/api/types';
import { Section } from './Section';
import { useChangeSettings } from './useChangeSettings';
import { useModelSources } from './useModelSources';

const STRICTNESS: Rule[] = ['allow', 'ask', 'deny'];
const KINDS = { delete: 'ruleDelete', outside_plan: 'ruleOutside', execute: 'ruleExecute', mcp: 'ruleMcp' } as const;
type Kind = keyof typeof KINDS;
type Own = { [K in Kind]?: Rule | null };

/** What asks and what is refused. What is chosen here can only be stricter than the files. */
export function ApprovalRules({ workspace, rules }: { workspace: Workspace; rules: Rules }) {
  const t = useText('settings');
  const common = useText('common');
  const change = useChangeSettings(workspace.id);
  const sources = useModelSources();
  const own = ((change.isPending ? change.variables.approvals : workspace.settings.approvals) ?? {}) as Own;
  const set = (kind: Kind, rule: Rule) => {
    const { [kind]: _old, ...others } = own;
    const next: Own = rule === rules.configured_approvals[kind] ? others : { ...others, [kind]: rule };
    change.mutate({ approvals: Object.keys(next).length > 0 ? next : null });
  };
  return (
    <Section title={t('approvals')} hint={t('approvalsHint', { file: sources.data?.config_file ?? t('yourFile') })}>
      <div className="divide-y divide-line border-y">
        {(Object.keys(KINDS) as Kind[]).map((kind) => (
          <div key={kind} className="grid grid-cols-[1fr_13.5rem] items-center gap-3 py-2">
            <span aria-hidden>{t(KINDS[kind])}</span>
            <Select
              label={t(KINDS[kind])}
              isLabelHidden
              value={own[kind] ?? rules.configured_approvals[kind]}
              disabled={workspace.right !== 'owner'}
              options={STRICTNESS.map((rule) => [rule, rule === rules.configured_approvals[kind] ? `${t(rule)}${common('aside', { text: t('asConfigured') })}` : t(rule), STRICTNESS.indexOf(rule) < STRICTNESS.indexOf(rules.configured_approvals[kind])] as const)}
              choose={(rule) => set(kind, rule)}
            />
          </div>
        ))}
      </div>
    </Section>
  );
}
