/** Somebody, by their initials. */
export function Avatar({ name, size = 'usual' }: { name: string; size?: 'usual' | 'small' }) {
  return <span title={name} aria-hidden className={`grid shrink-0 place-items-center rounded-full border border-line2 bg-sunken font-semibold text-fg2 uppercase ${size === 'small' ? 'size-5 text-[9px]' : 'size-6 text-[10px]'}`}>{initials(name)}</span>;
}

/** "ml" for "mara.lindqvist", "yo" for "you". */
function initials(name: string): string {
  const [first = '', second] = name.split(/[\s._-]+/).filter(Boolean);
  return second ? `${[...first][0]}${[...second][0]}` : [...first].slice(0, 2).join('');
}
