import { useState, type ReactNode } from 'react';
import { CommandText } from '@/components/CommandText';
import { Select } from '@/components/form';
import { useText } from '@/i18n';
import type { ModelProvider, ModelSources } from '@/lib/api/types';

const OWN = ' own';

/** What to do to get a model, step by step, for each provider. */
export function ModelSetUp({ sources }: { sources: ModelSources }) {
  const t = useText('settings');
  const [chosen, choose] = useState(() => (sources.providers.find((one) => one.has_key) ?? sources.providers[0])?.name ?? OWN);
  const provider = sources.providers.find((one) => one.name === chosen);
  const file = sources.config_file ?? 'config.toml';
  const mark = ({ key_env, has_key, configured }: ModelProvider) => [configured && t('configured'), key_env === null ? t('needsNoKey') : has_key && t('keyIsSet')].filter(Boolean).join(', ');
  const options = [...sources.providers.map((one) => [one.name, mark(one) ? `${one.title} (${mark(one)})` : one.title] as const), [OWN, t('ownServer')] as const];
  return (
    <div className="flex flex-col gap-3 border-t pt-3">
      <Select label={t('provider')} value={chosen} options={options} choose={choose} />
      <ol className="flex list-decimal flex-col gap-3 pl-5">{provider ? <Steps provider={provider} file={file} /> : <OwnServer file={file} />}</ol>
    </div>
  );
}

function Step({ says, children }: { says: string; children?: ReactNode }) {
  return <li className="pl-1"><p className="mb-1">{says}</p>{children}</li>;
}

function Steps({ provider, file }: { provider: ModelProvider; file: string }) {
  const t = useText('settings');
  const model = `${provider.name}/${provider.default_model ?? provider.models[0] ?? 'MODEL'}`;
  const keep = <Step says={t('stepFile', { file })}><CommandText text={`[models]\ndefault = "${model}"`} /></Step>;
  if (provider.has_key || provider.configured) return <><Step says={t('stepHere')} />{keep}</>;
  if (provider.key_env) {
    return (
      <>
        <Step says={t('stepKey')}><CommandText text={`export ${provider.key_env}=…`} /></Step>
        <Step says={t('stepStart', { model })}><CommandText text="planwright serve" /></Step>
        {keep}
      </>
    );
  }
  return (
    <>
      <Step says={t('stepDaemon')}><CommandText text={`ollama pull qwen3-coder\nexport ${provider.base_url_env ?? 'OLLAMA_HOST'}=http://127.0.0.1:11434`} /></Step>
      <Step says={t('stepStartAny')}><CommandText text={`planwright serve --model ${provider.name}/qwen3-coder`} /></Step>
      <Step says={t('stepFile', { file })}><CommandText text={`[models]\ndefault = "${provider.name}/qwen3-coder"`} /></Step>
    </>
  );
}

function OwnServer({ file }: { file: string }) {
  const t = useText('settings');
  return (
    <Step says={t('stepOwn', { file })}>
      <CommandText text={'[models]\ndefault = "local/qwen3-coder"\n\n[providers.local]\nkind = "openai"\nbase_url = "http://127.0.0.1:8080/v1"\napi_key_env = "LOCAL_API_KEY"'} />
    </Step>
  );
}
