import { Suspense, useEffect, useState, type ComponentType, type ReactNode } from 'react';
import { isOutdated } from '@/lib/loading';
import { Failed } from './Failed';
import { Outdated } from './Outdated';
import { Skeleton } from './Skeleton';

interface Failure {
  error: Error;
  isOutdated: boolean;
}

/** In the place of something small that is on its way. */
export const LOADING = <span data-loading hidden />;

/** A part of the page that is loaded when it is first shown; where that fails it says so, and tries again when asked. */
export function part<P extends object>(load: () => Promise<ComponentType<P>>, fallback: ReactNode = <Skeleton />): ComponentType<P> {
  let Loaded: ComponentType<P> | null = null;
  return function Part(props: P) {
    const [attempt, setAttempt] = useState(0);
    const [failure, setFailure] = useState<Failure | null>(null);
    const [, show] = useState(0);
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (component) => {
          Loaded = component;
          show(1);
        },
        async (reason: unknown) => {
          const error = reason instanceof Error ? reason : new Error(String(reason));
          setFailure({ error, isOutdated: await isOutdated(error) });
        },
      );
    }, [attempt]);
    const retry = () => {
      setFailure(null);
      setAttempt(attempt + 1);
    };
    if (failure?.isOutdated) return <Outdated />;
    if (failure) return <Failed error={failure.error} retry={retry} />;
    return Loaded ? <Suspense fallback={fallback}><Loaded {...props} /></Suspense> : fallback;
  };
}
