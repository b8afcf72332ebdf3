// Whether a model is the demo, and whether there is a model at all.
import { useMe, useWorkspaces } from './workspaces';

export const isDemo = (model: string | null | undefined): boolean => model?.startsWith('demo/') === true;

/** No model is set up, or only the demo. False while unknown. */
export function useLacksModel(): boolean {
  const me = useMe().data;
  const workspaces = useWorkspaces().data;
  if (!me || !workspaces) return false;
  const { plan } = me.models;
  return isDemo(plan) || (!plan && !workspaces.some(({ settings }) => typeof settings.model === 'string' && !isDemo(settings.model)));
}
