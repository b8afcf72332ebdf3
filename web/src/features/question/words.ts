import type { Text } from '@/i18n';
import type { Complaint, ComplaintKey } from './complaint';

type Params = Record<string, string | number>;
type Sentence = (t: Text<'question'>, params: Params) => string;

const SENTENCES: Record<ComplaintKey, Sentence> = {
  required: (t) => t('errorRequired'),
  integer: (t) => t('errorInteger'),
  number: (t) => t('errorNumber'),
  json: (t, { why = '' }) => t('errorJson', { why }),
  type: (t, { limit = '' }) => t('errorType', { limit }),
  choice: (t, { values = '' }) => t('errorChoice', { values }),
  pattern: (t, { limit = '' }) => t('errorPattern', { limit }),
  format: (t, { limit = '' }) => t('errorFormat', { limit }),
  minLength: (t, { limit = '' }) => t('errorMinLength', { limit }),
  maxLength: (t, { limit = '' }) => t('errorMaxLength', { limit }),
  minItems: (t, { limit = '' }) => t('errorMinItems', { limit }),
  maxItems: (t, { limit = '' }) => t('errorMaxItems', { limit }),
  uniqueItems: (t) => t('errorUniqueItems'),
  minimum: (t, { limit = '' }) => t('errorMinimum', { limit }),
  maximum: (t, { limit = '' }) => t('errorMaximum', { limit }),
  exclusiveMinimum: (t, { limit = '' }) => t('errorExclusiveMinimum', { limit }),
  exclusiveMaximum: (t, { limit = '' }) => t('errorExclusiveMaximum', { limit }),
  multipleOf: (t, { limit = '' }) => t('errorMultipleOf', { limit }),
  surplus: (t) => t('errorSurplus'),
  other: (t, { keyword = '' }) => t('errorOther', { keyword }),
};

function complaintText(t: Text<'question'>, { key, params = {} }: Complaint): string {
  return SENTENCES[key](t, params);
}

/** What is wrong by pointer, in words. The server's words count where there are any. */
export function errorsByPointer(t: Text<'question'>, complaints: Complaint[], fromServer: Record<string, string>): Record<string, string> {
  const own = complaints.map((complaint) => [complaint.pointer, complaintText(t, complaint)]);
  return { ...Object.fromEntries(own), ...fromServer };
}
