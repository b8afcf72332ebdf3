import { useQuery } from '@tanstack/react-query';
import { settingsApi } from '@/lib/api/settings';

/** Where models can be had from. */
export const useModelSources = () => useQuery({ queryKey: ['models'], queryFn: settingsApi.models });
