// A given answer in the words of the form that it was given in.
import type { Json } from '@/lib/api/types';
import type { Choice, Field } from './field';
import { isObject, namesOf, sameJson, shownJson } from './json';

interface AnswerWords {
  yes: string;
  no: string;
  /** For a list that nothing was put into. */
  none: string;
}

/** One line, or several where the answer has some. */
export function answerText(field: Field | undefined, answer: Json, words: AnswerWords): string {
  if (typeof answer === 'boolean') return answer ? words.yes : words.no;
  if (answer === null || answer === '' || (Array.isArray(answer) && answer.length === 0)) return words.none;
  const choices = field !== undefined && 'choices' in field ? field.choices : [];
  if (Array.isArray(answer) && field?.kind !== 'json') return answer.map((one) => labelIn(choices, one) ?? shownJson(one)).join(', ');
  return labelIn(choices, answer) ?? shownJson(answer);
}

/** The parts of an answer that is an object, by the names that the form gave them. */
export function answerParts(field: Field | undefined, answer: Json): { name: string; field: Field | undefined; value: Json }[] | undefined {
  if (!isObject(answer)) return undefined;
  const fields = field?.kind === 'group' ? field.fields : [];
  return Object.entries(answer).map(([name, value]) => {
    const part = fields.find((one) => namesOf(one.pointer).at(-1) === name);
    return { name: part?.label ?? name, field: part, value };
  });
}

function labelIn(choices: Choice[], value: Json): string | undefined {
  return choices.find((choice) => sameJson(choice.value, value))?.label;
}
