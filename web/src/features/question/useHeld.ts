import { useEffect, useState } from 'react';

/** A click or key that was meant for what stood here before comes within this time. */
const HELD = 700;

/** Whether `key` has come up only just now, so that nobody can have read it: then nothing decides. */
export function useHeld(key: string): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const clock = setTimeout(() => setSettled(key), HELD);
    return () => clearTimeout(clock);
  }, [key]);
  return settled !== key;
}
