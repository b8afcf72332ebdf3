import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useText } from '@/i18n';
import { settingsApi, type SettingsChange } from '@/lib/api/settings';
import { toast, toastError } from '@/lib/toast';
import { learnWorkspace } from '@/lib/workspaces';

/** Sets something for a workspace, over its files. */
export function useChangeSettings(workspace: string) {
  const t = useText('settings');
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (settings: SettingsChange) => settingsApi.changeWorkspace(workspace, { settings }),
    onSuccess: (changed) => {
      learnWorkspace(queries, changed);
      toast(t('saved'));
    },
    onError: toastError,
  });
}
