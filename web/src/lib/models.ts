// Short names of models.

/** The last part of each name; the whole name if two would be the same. */
export function namesOf(models: string[]): Record<string, string> {
  const short = (model: string) => model.slice(model.lastIndexOf('/') + 1);
  const isTaken = (model: string) => models.some((other) => other !== model && short(other) === short(model));
  return Object.fromEntries(models.map((model) => [model, isTaken(model) ? model : short(model)]));
}
