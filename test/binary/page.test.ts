import { request } from 'undici';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';

/** A condition is looked at until it holds; the test's own limit ends the wait. */
const POLL = { timeout: 60_000 };

/** On how many lines the status of the first job stands: a word is not cut where the page is narrow. */
const LINES_OF_STATUS = `(() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector('#jobs tbody td:nth-child(2)'));
  return range.getClientRects().length;
})()`;

interface Served {
  readonly link: string;
  readonly baseUrl: string;
  readonly apiKey: string;
}

async function serve(): Promise<Served> {
  const running = await startFoley(['serve', '--port', '0'], { timeoutMs: 110_000 });
  const [, baseUrl = '', apiKey = ''] = await running.waitFor(
    'stdout',
    /FOLEY_BASE_URL=(\S+) FOLEY_API_KEY=(\S+)/,
  );
  const [, link = ''] = await running.waitFor('stderr', /open (\S+#\S+) \(good once\)/);
  return { apiKey, baseUrl, link };
}

describe('the page of foley serve', () => {
  test('opens by its link, lists what there is, plays a job, and speaks live', async () => {
    const { apiKey, baseUrl, link } = await serve();
    const env = { FOLEY_BASE_URL: baseUrl, FOLEY_API_KEY: apiKey };
    const order = ['--voice-name', 'Clara', 'A job to be played.'];
    const job = await runFoley(['jobs', 'create', '--wait', ...order], { env });
    expect(job.code).toBe(0);
    const page = await openPage(link);

    await page.locator('#voices tbody tr').first().waitFor();
    expect(page.url()).toBe(`${baseUrl}/`);
    expect(await page.locator('#voices').textContent()).toContain('Clara');
    expect(await page.locator('#models').textContent()).toContain('vendor-s21pro');
    expect(await page.locator('#ledger').textContent()).toContain('commit');
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await page.evaluate(LINES_OF_STATUS)).toBe(1);
    await page.locator('#jobs tr', { hasText: 'A job to be played.' }).getByRole('button').click();
    const isPlaying = `document.querySelector('#player').currentTime > 0`;
    await expect.poll(() => page.evaluate(isPlaying), POLL).toBe(true);

    await speaksLive(page, 'The line is open, and words come as they are heard.');
    await page.locator('#text').fill('...');
    await page.locator('#speak').click();
    const trouble = () => page.locator('#trouble').textContent();
    await expect.poll(trouble, POLL).toMatch(/^empty_segment: /);
    expect(await page.content()).not.toContain(apiKey);
    expect(await page.evaluate('document.cookie')).toBe('');
  }, 120_000);

  test('opens no second time by the same link, and for nobody without one', async () => {
    const { baseUrl, link } = await serve();
    const first = await openPage(link);
    await first.locator('#voices tbody tr').first().waitFor();
    const second = await openPage(link);
    await expect
      .poll(() => second.locator('#trouble').textContent(), POLL)
      .toMatch(/not good, or was used before/);
    const third = await openPage(baseUrl);
    await expect
      .poll(() => third.locator('#trouble').textContent(), POLL)
      .toMatch(/Open the link that `foley serve` printed/);
    expect(await third.locator('main').isVisible()).toBe(false);
  }, 120_000);

  test.each([
    ['GET', '/page/ledger'],
    ['POST', '/page/ticket'],
    ['GET', '/page/api/api/open/v3/voices'],
  ] as const)('tells nothing to %s %s without a session', async (method, path) => {
    const { baseUrl } = await serve();
    expect((await ask(baseUrl + path, method)).status).toBe(401);
  });

  test('is refused to other origins, and in other pages', async () => {
    const { baseUrl, link } = await serve();
    const foreign = { Origin: 'http://elsewhere.example' };
    expect((await ask(`${baseUrl}/`, 'GET', foreign)).status).toBe(403);
    const stolen = { link: link.split('#')[1] };
    expect((await ask(`${baseUrl}/page/session`, 'POST', foreign, stolen)).status).toBe(403);
    const own = { Origin: baseUrl };
    const begun = await ask(`${baseUrl}/page/session`, 'POST', own, stolen);
    expect(begun.status).toBe(204);
    expect(begun.headers['set-cookie']).toMatch(/; HttpOnly; SameSite=Strict; Path=\/page; /);
    const { headers } = await ask(`${baseUrl}/`, 'GET');
    expect(headers['content-security-policy']).toMatch(
      /default-src 'none'.*frame-ancestors 'none'/,
    );
  });

  test('lets its session do nothing but look, and speak', async () => {
    const { baseUrl, link } = await serve();
    const own = { Origin: baseUrl };
    const begun = await ask(`${baseUrl}/page/session`, 'POST', own, { link: link.split('#')[1] });
    const [cookie = ''] = String(begun.headers['set-cookie']).split(';');
    const session = { ...own, Cookie: cookie };
    const voices = await ask(`${baseUrl}/page/api/api/open/v3/voices`, 'GET', session);
    expect(voices.status).toBe(200);
    const paid = `${baseUrl}/page/api/api/open/v3/speech/tts`;
    expect((await ask(paid, 'POST', session, { text: 'hi' })).status).toBe(404);
    expect((await ask(`${baseUrl}/page/api/api/open/v1/voices/x`, 'GET', session)).status).toBe(
      404,
    );
  });
});

test('--json prints one line and no link', async () => {
  const running = await startFoley(['serve', '--port', '0', '--json']);
  await running.waitFor('stdout', /\n/);
  running.signal('SIGTERM');
  const { stderr, stdout } = await running.done;
  expect(stdout.toString().trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).not.toContain('#');
});

async function speaksLive(page: Page, text: string): Promise<void> {
  await page.locator('#text').fill(text);
  // The highest level that the meter ever shows: what comes out of the loudspeaker.
  await page.evaluate(`
    const meter = document.querySelector('#level');
    window.loudest = 0;
    setInterval(() => { window.loudest = Math.max(window.loudest, meter.value); }, 20);
  `);
  await page.locator('#speak').click();
  await expect.poll(() => page.locator('#words').textContent(), POLL).toMatch(/^The line/);
  await expect.poll(() => page.locator('#state').textContent(), POLL).toMatch(/^Done: \d+ kB/);
  expect(await page.locator('#words').textContent()).toBe(text);
  expect(await page.evaluate('window.loudest')).toBeGreaterThan(0.05);
}

async function openPage(url: string): Promise<Page> {
  const executablePath = requireTool('chromium', 'chromium-browser', 'google-chrome');
  const args = ['--no-sandbox', '--autoplay-policy=no-user-gesture-required'];
  const browser: Browser = await chromium.launch({ executablePath, args });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

async function ask(
  url: string,
  method: 'GET' | 'POST',
  headers: Readonly<Record<string, string>> = {},
  body?: unknown,
) {
  const answer = await request(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await answer.body.dump();
  return { status: answer.statusCode, headers: answer.headers };
}
