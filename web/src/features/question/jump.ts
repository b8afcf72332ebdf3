// The way to the question bar for parts of the page that are far from it.

let target: (() => void) | undefined;

/** The bar says how it is reached, and takes that back with the returned function. */
export function setJumpTarget(jump: () => void): () => void {
  target = jump;
  return () => {
    if (target === jump) target = undefined;
  };
}

export function jumpToQuestion(): void {
  target?.();
}
