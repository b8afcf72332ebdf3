/** Each step is reached by its number. */
export const focusStep = (step: number) => document.getElementById(`step-${step}`)?.focus();
