import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openPage } from '../../harness/browser.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';

const ITEMS = [
  { id: 'gate', text: 'The gate <b>opens</b> at nine.' },
  { id: 'train', text: 'The train leaves platform four.' },
  { id: 'doors', text: 'Stand clear of the doors.' },
  { id: 'lost', text: 'This item fails.', voiceId: 'no-such-voice' },
];

test('a page report plays, seeks, filters, and saves the items that the next batch speaks again', async () => {
  const lines = ITEMS.map((item) => JSON.stringify(item)).join('\n');
  const { sandbox, events } = await batchSandbox({ 'items.jsonl': lines });
  const flags = ['--jsonl', 'items.jsonl', '--format', 'wav', '--subtitles', 'vtt'];
  const args = [...flags, '--report', 'report.html'];
  expect((await events(args)).result.code).toBe(3);
  const page = await openPage(pathToFileURL(path.join(sandbox.out, 'report.html')).href);
  const asked = recordRequests(page);

  expect(await page.locator('article').count()).toBe(4);
  const layout = `getComputedStyle(document.querySelector('article')).display`;
  expect(await page.evaluate(layout)).toBe('grid');
  expect(await page.locator('article .text').allTextContents()).toContain(ITEMS[0]?.text);
  expect(await page.locator('article.failed .problem').textContent()).toMatch(/voice/);
  await playsAndSeeks(page);
  await filters(page);
  await pressesWithSpace(page);

  await page.locator('article', { hasText: 'platform four' }).getByText('Redo').click();
  await page.keyboard.press('j');
  await page.keyboard.press('r');
  const marked = await page.locator('article.redo .text').allTextContents();
  expect(marked).toHaveLength(2);
  await page.reload();
  expect(await page.locator('article.redo .text').allTextContents()).toEqual(marked);
  const list = await saveList(page, sandbox);
  const ids = ITEMS.filter(({ text }) => marked.includes(text)).map(({ id }) => id);
  expect((await readFile(list, 'utf8')).trim().split('\n').toSorted()).toEqual(ids.toSorted());

  const again = await events([...args, '--redo-list', list]);
  const spoken = again.items.filter(({ status }) => status === 'done').map(({ id }) => id);
  expect(spoken.toSorted()).toEqual(ids.filter((id) => id !== 'lost').toSorted());
  await page.reload();
  // New audio is not marked as heard.
  expect(await page.locator('article.redo').count()).toBe(0);
  await page.locator('article.failed .mark').click();
  await page.locator('#filter').selectOption('failed');
  expect(await page.locator('article:visible .text').allTextContents()).toEqual([
    'This item fails.',
  ]);
  expect(asked.filter((url) => url !== page.url())).toEqual([]);
}, 120_000);

async function playsAndSeeks(page: Page): Promise<void> {
  const first = page.locator('article', { hasText: 'platform four' });
  await first.locator('.play').click();
  await expect.poll(() => first.locator('.cue').textContent(), POLL).toMatch(/train|platform/);
  await page.keyboard.press(' ');
  await expect.poll(() => first.locator('.play').getAttribute('title'), POLL).toBe('Play');
  const wave = first.locator('.wave');
  const size = await wave.boundingBox();
  await wave.click({ position: { x: (size?.width ?? 0) * 0.75, y: 10 } });
  const heard = async (): Promise<number> =>
    Number(await wave.locator('rect').getAttribute('width'));
  await expect.poll(heard, POLL).toBeGreaterThan(0.7 * 240);
}

async function filters(page: Page): Promise<void> {
  const shown = page.locator('article:visible');
  await page.locator('#search').fill('clear of the');
  expect(await shown.count()).toBe(1);
  await page.locator('#search').fill('');
  await page.locator('#filter').selectOption('failed');
  expect(await shown.locator('.text').allTextContents()).toEqual(['This item fails.']);
  await page.locator('#filter').selectOption('all');
  expect(await shown.count()).toBe(4);
}

async function pressesWithSpace(page: Page): Promise<void> {
  const article = page.locator('article', { hasText: 'platform four' });
  const [mark, play] = [article.locator('.mark'), article.locator('.play')];
  // The found item plays to its end first.
  await expect.poll(() => play.getAttribute('title'), POLL).toBe('Play');
  await mark.focus();
  for (const isPressed of ['true', 'false']) {
    await page.keyboard.press(' ');
    expect(await mark.getAttribute('aria-pressed')).toBe(isPressed);
    expect(await play.getAttribute('title')).toBe('Play');
  }
}

/** Polls a condition until it holds; the limit of the test ends the wait. */
const POLL = { timeout: 60_000 };

async function saveList(page: Page, sandbox: Sandbox): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('#export').click(),
  ]);
  const file = path.join(sandbox.out, 'redo.txt');
  await download.saveAs(file);
  return file;
}

/** Records the requests of the page to other servers. */
function recordRequests(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('blob:')) asked.push(request.url());
  });
  return asked;
}
