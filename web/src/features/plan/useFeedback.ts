import { useRef } from 'react';
import { useRemarks } from '@/lib/chat/remarks';
import type { Revision } from './model';

/** The comments on a version, and how they become the next. */
export function useFeedback(revision: Revision) {
  const remarks = useRemarks(revision.plan, revision.revision);
  const key = useRef(crypto.randomUUID());
  return {
    ...remarks,
    submit: async () => {
      await remarks.send(key.current);
      key.current = crypto.randomUUID();
    },
  };
}
