// Pages of the seeded team, and how to get there: for the pictures and the screenshots.
import { history } from './support.mjs';

export const inbox = async (page, { server }) => {
  await page.goto(server.url);
  await page.getByRole('region', { name: /^(Recently done|最近完成)$/ }).waitFor();
};
export const chat = (key) => async (page, { chats }) => {
  await page.goto(chats[key].url);
  await history(page).getByRole('article').last().waitFor();
};
export const planPanel = async (page, place) => {
  await chat('running')(page, place);
  await page.getByRole('tabpanel').getByText('Move the query builder').waitFor();
};
export const changes = async (page, { chats }) => {
  await page.goto(`${chats.review.url}/changes`);
  await page.locator('.diff').first().waitFor();
};
export const approval = async (page, place) => {
  await chat('delete')(page, place);
  await page.getByRole('region', { name: /^(Question of the agent|智能体的提问)$/ }).waitFor();
};
