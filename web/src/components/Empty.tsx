import type { ReactNode } from 'react';

/** What a part of a page says when there is nothing in it. `Notice` is for whole pages. */
export function Empty({ icon, title, hint }: { icon: ReactNode; title: string; hint: string }) {
  return (
    <div className="m-auto flex max-w-md flex-col items-center gap-1 p-8 text-center">
      <div className="mb-1 text-muted">{icon}</div>
      <p className="font-semibold">{title}</p>
      <p className="text-fg2">{hint}</p>
    </div>
  );
}
