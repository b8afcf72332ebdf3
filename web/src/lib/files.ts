// Files of a workspace by what is typed of their names.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { settingsApi } from '@/lib/api/settings';

/** The best first. What was found for the letters before stays until there is something newer. */
export const useFiles = (workspace: string | null, typed: string, limit: number) =>
  useQuery({
    queryKey: ['find', workspace, typed, limit],
    queryFn: () => settingsApi.findFiles(workspace ?? '', typed, limit),
    enabled: workspace !== null,
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  });
