// The linter's findings in the current plan file.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { reviewApi } from '@/lib/api/review';
import type { Finding } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import type { Revision } from '../model';

export interface StepFinding extends Finding {
  /** Null for what belongs to no step. */
  step: number | null;
  /** The same for the same finding in a later version. */
  key: string;
}

const NONE: StepFinding[] = [];

/** Of the newest version: older ones have no file. Those that the user dismissed are left out. */
export function useFindings({ sha256 }: Revision, dismissed: readonly string[]): StepFinding[] {
  const { workspaceId, chatId } = useChatIds();
  const found = useQuery({
    queryKey: ['findings', chatId, sha256],
    queryFn: async () => (await reviewApi.plan(workspaceId, chatId)).findings.map(withKey),
    retry: false,
  });
  return useMemo(() => (found.data ?? NONE).filter(({ key }) => !dismissed.includes(key)), [found.data, dismissed]);
}

/** The number of the step stands before the message already. */
function withKey(finding: Finding & { step: number | null }): StepFinding {
  const message = finding.message.replace(/^step \d+ /, '');
  return { ...finding, message, key: `${finding.step ?? 0} ${finding.line} ${message}` };
}
