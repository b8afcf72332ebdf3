import { useQuery } from '@tanstack/react-query';
import { Cpu, Gauge } from 'lucide-react';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import type { Effort, Mode } from '@/lib/api/types';
import { namesOf } from '@/lib/models';
import { ChipSelect } from './ChipSelect';
import { LOADING } from './part';

export interface ModelPick {
  model: string | null;
  effort: Effort | null;
}

interface Props {
  workspaceId: string;
  mode: Mode;
  picked: ModelPick;
  pick: (change: Partial<ModelPick>) => void;
}

/** The model of a chat and how much it thinks; nothing picked is what is configured. */
export function ModelChips({ workspaceId, mode, picked, pick }: Props) {
  const t = useText('composer');
  const { data: options, isLoading } = useQuery({ queryKey: ['models', workspaceId], queryFn: () => api.models(workspaceId), staleTime: 60_000 });
  const configured = options?.[mode] ?? null;
  if (isLoading) return LOADING;
  if (!options || configured === null) return null;
  const others = options.available.filter((model) => model !== options.plan || model !== options.act);
  // A choice that is no longer configured is shown all the same.
  const chosen = picked.model !== null && !others.includes(picked.model) ? [picked.model] : [];
  const names = namesOf([configured, ...others, ...chosen]);
  const usual = options.plan === options.act ? (names[configured] ?? configured) : t('usualModel', { model: names[configured] ?? configured });
  const models = [['', usual] as const, ...[...others, ...chosen].map((model) => [model, names[model] ?? model] as const)];
  const efforts = [['', t('usualEffort')], ['low', t('low')], ['medium', t('medium')], ['high', t('high')]] as const;
  return (
    <>
      <ChipSelect label={t('model')} title={t('modelHint')} icon={<Cpu size={14} aria-hidden />} value={picked.model ?? ''} options={models} choose={(model) => pick({ model: model === '' ? null : model })} className="max-w-52" />
      <ChipSelect label={t('effort')} title={t('effortHint')} icon={<Gauge size={14} aria-hidden />} value={picked.effort ?? ''} options={efforts} choose={(effort) => pick({ effort: effort === '' ? null : effort })} className="max-w-40" />
    </>
  );
}
