// Searches files of a workspace by parts of their names.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { settingsApi } from '@/lib/api/settings';

/** Best first. The previous result stays until there is a newer one. */
export const useFiles = (workspace: string | null, typed: string, limit: number) =>
  useQuery({
    queryKey: ['find', workspace, typed, limit],
    queryFn: () => settingsApi.findFiles(workspace ?? '', typed, limit),
    enabled: workspace !== null,
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  });
