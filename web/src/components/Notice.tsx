import type { ReactNode } from 'react';
import { Words } from './Words';

/** What a view says instead of its content: nothing here yet, or something went wrong. */
export function Notice({ icon, title, hint, children }: { icon: ReactNode; title: string; hint?: string; children?: ReactNode }) {
  return (
    <div className="m-auto flex max-w-md flex-col items-center gap-2 p-8 text-center">
      <div className="text-muted">{icon}</div>
      <h1 className="text-lg font-semibold">{title}</h1>
      {hint && <p className="text-fg2"><Words text={hint} /></p>}
      {children && <div className="mt-2 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}
