// What the linter finds in the plan's file as it is now.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '@/lib/api/client';
import { useChatIds } from '@/lib/chat/context';
import type { Revision } from '../model';
import { findingsByStep, type StepFinding } from './findings';

const NONE: StepFinding[] = [];

/** Of the newest version: older ones have no file. */
export function usePlanFindings({ planFile, sha256 }: Revision, dismissed: readonly string[]): StepFinding[] {
  const { workspaceId } = useChatIds();
  const found = useQuery({
    queryKey: ['findings', workspaceId, planFile, sha256],
    queryFn: async () => {
      const { content } = await api.fileContent(workspaceId, planFile);
      const { findings } = await api.lintPlan(workspaceId, content ?? '');
      return findingsByStep(content ?? '', findings);
    },
    retry: false,
  });
  return useMemo(() => (found.data ?? NONE).filter(({ key }) => !dismissed.includes(key)), [found.data, dismissed]);
}
