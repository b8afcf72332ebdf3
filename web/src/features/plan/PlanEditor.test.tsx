import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setLocale } from '@/i18n';
import { api } from '@/lib/api/client';
import type { Finding } from '@/lib/api/types';
import { ChatProvider } from '@/lib/chat/context';
import PlanEditor from './PlanEditor';

const TEXT = '# Say goodbye\n\n## Steps\n\n- [ ] 2. Write it\n';
const warning: Finding = { line: 5, column: 7, message: 'this should be step 1, not 2', gravity: 'warning' };
const error: Finding = { line: 1, column: 1, message: 'the plan has no steps', gravity: 'error' };

beforeEach(() => {
  setLocale('en');
  vi.spyOn(api, 'fileContent').mockResolvedValue({ path: '/plans/x.plan', file_type: 'plan', size: TEXT.length, content: TEXT });
  vi.spyOn(api, 'lintPlan').mockImplementation(async (_, text) => ({ findings: text.includes('- [ ]') ? [warning] : [error] }));
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const open = async (close = vi.fn()) => {
  render(
    <ChatProvider workspaceId="w" chatId="c">
      <PlanEditor planFile="/plans/a.plan" close={close} />
    </ChatProvider>,
  );
  const area = await screen.findByLabelText<HTMLTextAreaElement>('Text of the plan');
  await waitFor(() => expect(area.value).toBe(TEXT));
  return { area, close };
};

test('findings show by line, and lead to the line', async () => {
  const { area } = await open();
  const finding = await screen.findByText('this should be step 1, not 2');
  await userEvent.click(finding);
  expect(area.value.slice(area.selectionStart, area.selectionEnd)).toBe('- [ ] 2. Write it');
});

test('text that is no plan can not be saved', async () => {
  const { area } = await open();
  await userEvent.clear(area);
  await screen.findByText('the plan has no steps');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  expect(area.getAttribute('aria-invalid')).toBe('true');
});

test('what is saved is written as the user, in the chat', async () => {
  const run = vi.spyOn(api, 'runTool').mockResolvedValue({ success: true });
  const { area, close } = await open();
  await userEvent.type(area, '!');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(close).toHaveBeenCalled());
  expect(run).toHaveBeenCalledWith('w', 'write', { path: '/plans/a.plan', content: `${TEXT}!` }, 'c');
});

test('a refusal is shown, and the text stays', async () => {
  vi.spyOn(api, 'runTool').mockResolvedValue({ success: false, error: { code: 'FILE_CHANGED', message: 'The file has changed.', retryable: false } });
  const { area, close } = await open();
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText('The file has changed.');
  expect(close).not.toHaveBeenCalled();
  expect(area.value).toBe(TEXT);
});
