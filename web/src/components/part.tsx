import { useEffect, useState, type ComponentType, type ReactNode } from 'react';
import { Failed } from './Failed';
import { Skeleton } from './Skeleton';

/** A part of the page that is loaded when it is first shown; where that fails it says so, and tries again when asked. */
export function part<P extends object>(load: () => Promise<ComponentType<P>>, fallback: ReactNode = <Skeleton />): ComponentType<P> {
  let Loaded: ComponentType<P> | null = null;
  return function Part(props: P) {
    const [attempt, setAttempt] = useState(0);
    const [error, setError] = useState<Error | null>(null);
    const [, show] = useState(0);
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (component) => {
          Loaded = component;
          show(1);
        },
        (reason: unknown) => setError(reason instanceof Error ? reason : new Error(String(reason))),
      );
    }, [attempt]);
    const retry = () => {
      setError(null);
      setAttempt(attempt + 1);
    };
    if (error) return <Failed error={error} retry={retry} />;
    return Loaded ? <Loaded {...props} /> : fallback;
  };
}
