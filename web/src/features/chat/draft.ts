// What was typed and not sent, by chat. Outlives a reload, and goes with the tab.
import { useCallback, useState } from 'react';

const key = (chat: string) => `planwright.draft.${chat}`;

export function useDraft(chat: string): [string, (text: string) => void] {
  const [draft, show] = useState(() => sessionStorage.getItem(key(chat)) ?? '');
  const keep = useCallback(
    (text: string) => {
      show(text);
      if (text === '') sessionStorage.removeItem(key(chat));
      else sessionStorage.setItem(key(chat), text);
    },
    [chat],
  );
  return [draft, keep];
}
