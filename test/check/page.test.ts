import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openPage } from '../harness/browser.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';

/** A condition is looked at until it holds; the test's own limit ends the wait. */
const POLL = { timeout: 60_000 };

interface Served {
  readonly link: string;
  readonly baseUrl: string;
  readonly apiKey: string;
}

async function serve(flags: readonly string[] = []): Promise<Served> {
  const running = await startFoley(['serve', '--port', '0', ...flags], { timeoutMs: 110_000 });
  const [, baseUrl = '', apiKey = ''] = await running.waitFor(
    'stdout',
    /FOLEY_BASE_URL=(\S+) FOLEY_API_KEY=(\S+)/,
  );
  const [, link = ''] = await running.waitFor('stderr', /open (\S+#\S+) \(works in one browser\)/);
  return { apiKey, baseUrl, link };
}

describe('the page of foley serve', () => {
  test('opens by its link, and lists voices, models, jobs and credits in words', async () => {
    const { apiKey, baseUrl, link } = await serve();
    const env = { FOLEY_BASE_URL: baseUrl, FOLEY_API_KEY: apiKey };
    const order = ['--voice-name', 'Clara', 'A job to be played.'];
    const job = await runFoley(['jobs', 'create', '--wait', ...order], { env });
    expect(job.code).toBe(0);
    const page = await openPage(link);

    await page.getByRole('heading', { name: 'Speak' }).waitFor();
    expect(page.url()).toBe(`${baseUrl}/`);
    expect(await page.locator('#voices').textContent()).toMatch(/Clara.*American English/);
    expect(await page.locator('#models').textContent()).toContain('vendor-s21pro');
    expect(await page.locator('#ledger').textContent()).toMatch(/Used for a request.*-10.*Credits/);
    expect(await page.locator('#jobs').textContent()).toMatch(/Done.*10 credits/);
    expect(await page.locator('table').count()).toBe(0);
    await page.getByRole('button', { name: 'Play: A job to be played.' }).click();
    await expect.poll(() => playedSeconds(page), POLL).toBeGreaterThan(0);
    expect(await downloaded(page)).toMatch(/^[0-9a-f-]{36}\.mp3: ID3|^[0-9a-f-]{36}\.mp3: \xff/);
    expect(await page.content()).not.toContain(apiKey);
    expect(await page.evaluate('document.cookie')).toBe('');
    for (const width of [1280, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      const overflow =
        'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect([width, await page.evaluate(overflow)]).toEqual([width, 0]);
    }
  }, 120_000);

  test('lists the voices of every page of the list', async () => {
    const { link } = await serve();
    const page = await openPage();
    const voices = Array.from({ length: 103 }, (_, index) => ({
      voiceId: `voice-${index}`,
      name: `Voice ${index}`,
      isPersonal: false,
      primaryLanguage: 'en',
      languages: ['en'],
      modelIds: ['vendor-s1'],
    }));
    await page.route('**/v3/voices?*', async (route) => {
      const { searchParams } = new URL(route.request().url());
      const from = (Number(searchParams.get('page')) - 1) * 100;
      const items = voices.slice(from, from + 100);
      await route.fulfill({ json: { items, total: 103, page: 1, pageSize: 100, totalPages: 2 } });
    });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Speak' }).waitFor();
    expect(await page.locator('#voices li').count()).toBe(103);
    expect(await page.locator('#voice option').count()).toBe(103);
  }, 120_000);

  test('opens again in the browser that used the link, and in no other', async () => {
    const { link } = await serve();
    const page = await openPage(link);
    const heading = () => page.getByRole('heading', { name: 'Speak' }).waitFor();
    await heading();
    await page.reload();
    await heading();
    await page.goto('about:blank');
    await page.goto(link);
    await heading();
    const other = await openPage(link);
    const trouble = () => other.locator('#trouble').textContent();
    await expect.poll(trouble, POLL).toMatch(/invalid or was used before/);
  }, 120_000);

  test('speaks, and highlights each word while it is spoken', async () => {
    const page = await openPage((await serve()).link);
    const text = 'The first words light up, and then the others do.';
    await page.locator('#text').fill(text);
    await page.evaluate(WATCH_WORDS);
    await page.locator('#speak').click();
    await expect.poll(() => page.locator('#play').textContent(), POLL).toBe('Replay');
    const seen: unknown = await page.evaluate('window.seen');
    expect(seen).toEqual(text.split(' '));
    expect(await page.locator('#words').textContent()).toBe(text);
    expect(await downloaded(page)).toMatch(/^the-first-words-light-up-and\.mp3: /);
    const credits = page.locator('#ledger li').first();
    await expect.poll(() => credits.textContent(), POLL).toMatch(/Used for a request/);
    await page.locator('#play').click();
    await expect.poll(() => page.locator('#state').textContent(), POLL).toBe('Playing');
    await page.locator('#position').fill('0.6');
    await expect.poll(() => playedSeconds(page), POLL).toBeGreaterThan(1.2);
  }, 120_000);

  test.each([
    ['Greta', 'altD-tts-2.0', 'ogg', 'OggS'],
    ['Clara', 'vendor-s1', 'wav', 'RIFF'],
    ['Clara', 'vendor-s21pro', 'wav', 'RIFF'],
  ] as const)(
    'speaks with %s and %s as %s, and highlights words',
    async (voice, model, format, magic) => {
      const page = await openPage((await serve()).link);
      await page.locator('#text').fill('One two three four.');
      await page.locator('#voice').selectOption({ label: voice });
      await page.locator('#model').selectOption(model);
      await page.locator('#format').selectOption(format);
      await page.locator('#speed').fill('1.5');
      await page.evaluate(WATCH_WORDS);
      await page.locator('#speak').click();
      await expect.poll(() => page.locator('#play').textContent(), POLL).toBe('Replay');
      expect(await page.evaluate('window.seen')).toEqual(['One', 'two', 'three', 'four.']);
      expect(await downloaded(page)).toBe(`one-two-three-four.${format}: ${magic}`);
      expect(
        Number(await page.evaluate(`document.querySelector('#player').duration`)),
      ).toBeLessThan(2);
    },
    120_000,
  );

  test('offers the models of the chosen voice, and the formats of the model', async () => {
    const page = await openPage((await serve(['--unavailable', 'altA-2.8-hd'])).link);
    const optionsOf = (list: string) => page.locator(`${list} option`).allTextContents();
    await page.locator('#voice').selectOption({ label: 'Nora' });
    expect(await optionsOf('#model')).toEqual(['altA-2.8-turbo', 'altA-2.6-turbo', 'altA-2.6-hd']);
    await page.locator('#model').selectOption('altA-2.6-hd');
    expect(await optionsOf('#format')).toEqual(['mp3', 'wav']);
    await page
      .locator('#voices')
      .getByRole('button', { name: /^Clara/ })
      .click();
    expect(await page.locator('#voice').inputValue()).not.toBe('');
    expect(await optionsOf('#model')).toContain('vendor-s1');
  }, 120_000);

  test('refuses a text that is empty, too long or unspeakable, and says why', async () => {
    const page = await openPage((await serve()).link);
    const problem = () => page.locator('#text-problem').textContent();
    await page.locator('#text').fill(' \n ');
    await page.locator('#speak').click();
    expect(await problem()).toMatch(/^There is no text yet/);
    expect(await page.locator('#text').getAttribute('aria-invalid')).toBe('true');
    await page.locator('#model').selectOption('vendor-s21pro-free');
    await page.locator('#text').fill('a '.repeat(600));
    expect(await problem()).toBe('');
    await page.locator('#speak').click();
    expect(await problem()).toBe(
      'The text has 1200 characters; vendor-s21pro-free speaks at most 1000.',
    );
    await page.locator('#text').fill('...');
    await page.locator('#speak').click();
    const trouble = () => page.locator('#trouble').textContent();
    await expect.poll(trouble, POLL).toBe('text contains nothing that this voice can speak');
    expect(await page.locator('#stop').isDisabled()).toBe(true);
  }, 120_000);

  test('stops at once while text is spoken, and while it is played', async () => {
    const slow = ['--fault', 'POST /page/api/**; delay=60s; times=1'];
    const page = await openPage((await serve(slow)).link);
    await page.locator('#text').fill('A text that takes some time to be heard. '.repeat(5));
    await page.locator('#speak').click();
    await expect.poll(() => page.locator('#state').textContent(), POLL).toBe('Speaking…');
    expect(await page.evaluate(STOP)).toEqual(QUIET);
    await page.locator('#speak').click();
    await expect.poll(() => playedSeconds(page), POLL).toBeGreaterThan(0.2);
    await expect.poll(() => page.locator('#download').isVisible(), POLL).toBe(true);
    expect(await page.evaluate(STOP)).toEqual(QUIET);
    await page.locator('#play').click();
    await expect.poll(() => playedSeconds(page), POLL).toBeGreaterThan(0.2);
    await page.locator('#text').press('Escape');
    expect(await page.evaluate(STOP)).toEqual(QUIET);
    // Speaking again does not wait for the end of what is being played.
    await page.locator('#speak').click();
    await expect.poll(() => playedSeconds(page), POLL).toBeGreaterThan(0.2);
    await page.locator('#text').fill('Another text.');
    await page.locator('#speak').click();
    await expect.poll(() => page.locator('#words').textContent(), POLL).toBe('Another text.');
    await expect.poll(() => page.locator('#play').textContent(), POLL).toBe('Replay');
    expect(await page.locator('#trouble').isVisible()).toBe(false);
  }, 120_000);

  test('opens once for each link, and not without one', async () => {
    const { baseUrl, link } = await serve();
    const first = await openPage(link);
    await first.locator('#voices li').first().waitFor();
    const second = await openPage(link);
    await expect
      .poll(() => second.locator('#trouble').textContent(), POLL)
      .toMatch(/invalid or was used before/);
    const third = await openPage(baseUrl);
    await expect
      .poll(() => third.locator('#trouble').textContent(), POLL)
      .toMatch(/open the link that `foley serve` printed/);
    expect(await third.locator('main').isVisible()).toBe(false);
  }, 120_000);

  test.each([
    ['GET', '/page/ledger'],
    ['POST', '/page/api/api/open/v3/speech/tts'],
    ['GET', '/page/api/api/open/v3/voices'],
  ] as const)('refuses %s %s without a session', async (method, path) => {
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
    const api = `${baseUrl}/page/api/api/open`;
    const speech = await ask(`${api}/v3/speech/tts`, 'POST', session, { text: 'hi' });
    expect(speech.status).toBe(400);
    for (const [method, path] of [
      ['POST', '/v3/speech/tts/jobs'],
      ['POST', '/v1/profile'],
      ['POST', '/v3/voices'],
      ['GET', '/v1/voices/x'],
    ] as const) {
      expect((await ask(api + path, method, session, { text: 'hi' })).status).toBe(404);
    }
    const foreign = { ...session, Origin: 'http://elsewhere.example' };
    expect((await ask(`${api}/v3/speech/tts`, 'POST', foreign, {})).status).toBe(403);
  });
});

test('says of its last 100 changes of credits whether there are older ones', async () => {
  const { apiKey, baseUrl, link } = await serve();
  const own = { Origin: baseUrl };
  const begun = await ask(`${baseUrl}/page/session`, 'POST', own, { link: link.split('#')[1] });
  const [cookie = ''] = String(begun.headers['set-cookie']).split(';');
  const changes = async (): Promise<unknown> => {
    const { text } = await ask(`${baseUrl}/page/ledger`, 'GET', { ...own, Cookie: cookie });
    const { hasMore, items } = Object(JSON.parse(text));
    return { hasMore, count: items.length };
  };
  expect(await changes()).toMatchObject({ hasMore: false });
  const texts = Array.from({ length: 60 }, (_, at) => `Number ${at}.`).join('\n');
  const env = { FOLEY_BASE_URL: baseUrl, FOLEY_API_KEY: apiKey };
  const args = ['batch', '--lines', '-', '--output-dir', 'out', '--voice-name', 'Clara'];
  expect(await runFoley(args, { env, input: texts })).toMatchObject({ code: 0 });
  expect(await changes()).toEqual({ hasMore: true, count: 100 });
}, 120_000);

test('--json prints one line and no link', async () => {
  const running = await startFoley(['serve', '--port', '0', '--json']);
  await running.waitFor('stdout', /\n/);
  running.signal('SIGTERM');
  const { stderr, stdout } = await running.done;
  expect(stdout.toString().trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).not.toContain('#');
});

/** Collects the words in the order in which they are highlighted. */
const WATCH_WORDS = `
  window.seen = [];
  new MutationObserver(() => {
    const word = document.querySelector('#words .now')?.textContent;
    if (word !== undefined && word !== window.seen.at(-1)) window.seen.push(word);
  }).observe(document.querySelector('#words'), { attributes: true, childList: true, subtree: true });
`;

/** Clicks Stop if it is enabled, and returns the state after the click. */
const STOP = `(() => {
  document.querySelector('#stop').click();
  const { paused } = document.querySelector('#player');
  return { paused, state: document.querySelector('#state').textContent };
})()`;
const QUIET = { paused: true, state: '' };

async function playedSeconds(page: Page): Promise<number> {
  return Number(await page.evaluate(`document.querySelector('#player').currentTime`));
}

/** The name of the downloaded file, and its first bytes. */
async function downloaded(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('#download').click(),
  ]);
  const bytes = await readFile(await download.path());
  return `${download.suggestedFilename()}: ${bytes.toString('latin1', 0, 4)}`;
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
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text };
}
