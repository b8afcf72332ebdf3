// How the composer names what is offered above it.
export const LIST_ID = 'composer-suggestions';
export const optionId = (place: number) => `${LIST_ID}-${place}`;
