import { trustedUrl } from '@/lib/trusted';
import { Checker, type CheckingWorker } from './checker';
import checkerUrl from './checker.worker?worker&url';

let checker: Checker | undefined;

/** The page's one checker; its worker starts with the first check. */
export function pageChecker(): Checker {
  checker ??= new Checker(() => new Worker(trustedUrl(checkerUrl), { type: 'module', name: 'answers' }) as CheckingWorker);
  return checker;
}
