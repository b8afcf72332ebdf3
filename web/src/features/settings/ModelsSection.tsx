import { useState } from 'react';
import { Button } from '@/components/Button';
import { TextInput } from '@/components/form';
import { Loaded } from '@/components/Loaded';
import { useText } from '@/i18n';
import type { ModelSources, Rules, Workspace } from '@/lib/api/types';
import { toast } from '@/lib/toast';
import { useMe, useRules } from '@/lib/workspaces';
import { ModelSetUp } from './ModelSetUp';
import { Section } from './Section';
import { TestButton } from './TestButton';
import { useChangeSettings } from './useChangeSettings';
import { useModelSources } from './useModelSources';
import { useWorkspaceChoice } from './useWorkspaceChoice';

/** Which models are used, whether they answer, and how to get one. */
export function ModelsSection() {
  const t = useText('settings');
  const { workspace, choice, query } = useWorkspaceChoice();
  const sources = useModelSources();
  return (
    <>
      <Section title={t('models')} hint={t('modelsHint')}>
        <Loaded query={query}>{() => choice}</Loaded>
        {workspace && <InUse key={workspace.id} workspace={workspace} />}
      </Section>
      <Section title={t('setUp')} hint={t('setUpHint')}>
        <Loaded query={sources}>{(found) => <ModelSetUp sources={found} />}</Loaded>
      </Section>
    </>
  );
}

function InUse({ workspace }: { workspace: Workspace }) {
  const rules = useRules(workspace.id);
  const sources = useModelSources();
  return (
    <Loaded query={rules}>
      {(held) => (
        <>
          <Names rules={held} />
          <Choice key={String(workspace.settings.model)} workspace={workspace} sources={sources.data} />
        </>
      )}
    </Loaded>
  );
}

function Names({ rules }: { rules: Rules }) {
  const t = useText('settings');
  const rows = [[t('planModel'), rules.plan_model], [t('actModel'), rules.act_model]] as const;
  return (
    <dl className="divide-y divide-line border-y">
      {rows.map(([label, model]) => (
        <div key={label} className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
          <dt className="w-24 text-muted">{label}</dt>
          <dd className="flex min-w-0 flex-1 flex-wrap items-center gap-2">
            {model ? <code className="min-w-0 flex-1 break-all">{model}</code> : <span className="flex-1 text-major">{t('noModel')}</span>}
            {model?.startsWith('demo/') && <span className="rounded-full bg-sunken px-2 text-xs text-fg2">{t('demoMark')}</span>}
            {model && <TestButton model={model} label={`${t('test')}: ${label} ${model}`} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Another model for this workspace alone. */
function Choice({ workspace, sources }: { workspace: Workspace; sources: ModelSources | undefined }) {
  const t = useText('settings');
  const me = useMe();
  const change = useChangeSettings(workspace.id);
  const own = typeof workspace.settings.model === 'string' ? workspace.settings.model : '';
  const [model, setModel] = useState(own);
  if (workspace.right !== 'owner' || me.data?.user.admin === false) return <p className="text-muted">{t('adminsOnly')}</p>;
  const set = (chosen: string | null) =>
    change.mutate({ model: chosen }, { onSuccess: () => toast(chosen ? t('modelSet', { workspace: workspace.name, model: chosen }) : t('modelUnset', { workspace: workspace.name })) });
  const known = (sources?.providers ?? []).filter((one) => one.has_key || one.configured || one.key_env === null).flatMap((one) => one.models.map((name) => `${one.name}/${name}`));
  return (
    <form onSubmit={(event) => { event.preventDefault(); set(model.trim()); }} className="flex flex-wrap items-end gap-2">
      <TextInput label={t('modelOf', { workspace: workspace.name })} hint={t('modelOfHint')} value={model} onChange={(event) => setModel(event.target.value)} placeholder={t('modelField')} list="known-models" autoComplete="off" spellCheck={false} className="basis-full" />
      <datalist id="known-models">{[...known, 'demo/demo'].map((name) => <option key={name} value={name} />)}</datalist>
      <Button type="submit" look="primary" disabled={model.trim() === '' || model.trim() === own || change.isPending}>{t('useModel')}</Button>
      {own && <Button onClick={() => set(null)} disabled={change.isPending}>{t('useConfigured')}</Button>}
      <TestButton key={model} model={model.trim()} label={`${t('test')}: ${model.trim()}`} />
    </form>
  );
}
