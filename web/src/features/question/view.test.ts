import { expect, test } from 'vitest';
import { type QuestionView, labelOf, proseAround, readQuestion } from './view';

test('a question with options and one with a schema are shown from the same model', () => {
  const options = readQuestion({
    question_id: 'q1',
    type: 'question',
    question: 'Delete 15 files?',
    context: 'They are temporary.',
    severity: 'minor',
    options: [{ label: 'Yes', value: 'yes', description: 'All of them' }, { label: 'No', value: 'no' }],
    default: 'no',
  });
  const schema = readQuestion({
    question_id: 'q1',
    kind: 'user',
    severity: 'minor',
    questions: [
      {
        name: 'answer',
        question: 'Delete 15 files?',
        context: 'They are temporary.',
        schema: { enum: ['yes', 'no'] },
        buttons: [{ label: 'Yes', value: 'yes', description: 'All of them' }, { label: 'No', value: 'no' }],
        default: 'no',
      },
    ],
  });
  expect(options).toEqual(schema);
  expect(labelOf(schema!.items[0]!, 'yes')).toBe('Yes');
});

test('a critical question has no preset', () => {
  const asked = readQuestion({ question_id: 'q', severity: 'critical', questions: [{ name: 'a', question: 'Sure?', schema: { type: 'boolean', default: true }, default: true }] });
  expect(asked?.items[0]).not.toHaveProperty('preset');
});

test('a severity that is not known reads as major', () => {
  expect(readQuestion({ question_id: 'q', severity: 'urgent', question: 'Well?' })).toMatchObject({ severity: 'major', items: [{ schema: { type: 'string' } }] });
});

test.each([null, 'x', {}, { question_id: 'q', questions: [] }, { question_id: 'q', questions: [{ name: 'a' }] }])('%j is no question', (raw) => expect(readQuestion(raw)).toBeUndefined());

test('the model\'s words around its question are separate from it', () => {
  const view = readQuestion({ question_id: 'q', question: 'Sure?', context: 'It matters.' }) as QuestionView;
  expect(proseAround(view, 'I looked.\n\nSure?\nIt matters.')).toBe('I looked.');
  expect(proseAround(view, 'Sure?\nIt matters.')).toBe('');
  expect(proseAround(view, 'Something else')).toBe('');
});
