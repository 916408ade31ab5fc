import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import {
  CAPABILITIES_PATH,
  PROFILE_PATH,
  VOICES_PATH,
} from '../../fault-server/healthy-service.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Step } from '../../fault-server/steps.ts';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import type { RunResult } from '../../harness/run-options.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import { unsafeCharacters } from '../../harness/unsafe-characters.ts';
import { JOBS_PATH } from '../../binary/batch/batch-sandbox.ts';
import {
  filesLeft,
  onSpeech,
  OPEN,
  paidAudio,
  createFixture,
  VOICE,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();

const ACTIONS = { GITHUB_ACTIONS: 'true', CI: 'true' };
/** The strings of the catalogue, and commands of build services at the beginning of a line. */
const STRINGS: Readonly<Record<string, string>> = {
  ...faults.HOSTILE_STRINGS,
  workflowStart: '::error::EVIL',
  workflowMask: '  ::add-mask::EVIL',
  pipelineStart: '##vso[task.complete result=Succeeded;]EVIL',
  legacyCommand: 'x ##[error]EVIL',
};
const all = Object.entries(STRINGS);
const everything = all
  .filter(([name]) => name !== 'loneSurrogate')
  .map(([, text]) => text)
  .join(' ');
/** One of each kind, for places with strict parsers. */
const some = [
  faults.HOSTILE_STRINGS.clipboard,
  faults.HOSTILE_STRINGS.bidiOverride,
  faults.HOSTILE_STRINGS.c1Controls,
  '::error::EVIL',
  'x ##[error]EVIL',
];

describe('a hostile string in an error', () => {
  test.each(all)('as every field of an error: %s', async (_name, text) => {
    const fixture = await createFixture([onSpeech(faults.hostileError(400, text))]);
    const result = await fixture.speak(['--verbose'], { env: ACTIONS });
    expect(result.code).toBe(20);
    expectHarmless(result);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('as the reason of a stopped batch', async () => {
    const fixture = await createFixture([
      { path: JOBS_PATH, answer: faults.hostileError(402, everything) },
    ]);
    const args = ['batch', '--lines', '-', '-v', VOICE, '-m', 'm'];
    const result = await fixture.run(args, { input: 'One.\nTwo.\n', env: ACTIONS });
    expect(result.code).toBe(21);
    expect(result.stderr).toMatch(/not tried: /);
    expectHarmless(result);
  });

  test('is whole and escaped in JSON', async () => {
    const fixture = await createFixture([onSpeech(faults.hostileError(400, everything))]);
    const result = await fixture.speak(['--json']);
    expect(unsafeCharacters(result.stderr)).toStrictEqual([]);
    const error = errorLine(result);
    expect(error.message).toBe(`the service rejected the request (400): ${everything}`);
    expect(error).toMatchObject({ code: everything, requestId: everything, billed: 'no' });
    expect(Object.keys(error.details ?? {})).toContain(everything);
  });

  test('of a million characters is truncated', async () => {
    const fixture = await createFixture([onSpeech(faults.longError(400, 60_000))]);
    const result = await fixture.speak();
    expect(result.code).toBe(20);
    expect(result.stderr.length).toBeLessThan(3_000);
    const longer = await createFixture([onSpeech(faults.longError(400))]);
    expect((await longer.speak()).stderr.length).toBeLessThan(3_000);
  });

  test.each(some)('as reason phrase: %j', async (text) => {
    const fixture = await createFixture([onSpeech(faults.hostileReason(503, text))]);
    const result = await fixture.speak(['--verbose'], { env: ACTIONS });
    // Strict parsers reject some as invalid HTTP; of the rest only the status counts.
    expect([23, 25]).toContain(result.code);
    expectHarmless(result);
  });

  test('as the address of a redirect', async () => {
    const fixture = await createFixture([
      { path: PROFILE_PATH, answer: faults.redirectTo('javascript:EVIL\u202E') },
    ]);
    const result = await fixture.run(['profile', '--verbose']);
    expect(result.code).toBe(25);
    expectHarmless(result);
  });
});

describe('a hostile string in a successful response', () => {
  test.each(some)('as every header of the service: %j', async (text) => {
    const fixture = await createFixture([onSpeech(faults.hostileHeaders(mp3, text))]);
    const result = await fixture.speak(['--verbose'], { env: ACTIONS });
    expect([0, 25]).toContain(result.code);
    expectHarmless(result);
    const left = await filesLeft(fixture.sandbox);
    expect(left).toStrictEqual(result.code === 0 ? ['out/hi.mp3'] : [OPEN]);
  });

  test.each(some)('as the media type: %j', async (text) => {
    const fixture = await createFixture([onSpeech(faults.hostileType(text))]);
    const result = await fixture.speak([], { env: ACTIONS });
    expect(result.code).toBe(25);
    expectHarmless(result);
  });

  test('as voices', async () => {
    const fixture = await createFixture([
      {
        path: VOICES_PATH,
        answer: json(
          200,
          bodyWith('items', (text) => faults.hostileVoices(text)),
        ),
      },
    ]);
    const list = await fixture.run(['voices', 'list'], { env: ACTIONS });
    expect(list.code).toBe(0);
    expectHarmless(list);
    expect(list.stdout.toString().trimEnd().split('\n')).toHaveLength(all.length + 1);
    const data = await fixture.run(['voices', 'list', '--json']);
    expect(unsafeCharacters(data.stdout)).toStrictEqual([]);
    const names = all.map(([, name]) => ({ name }));
    expect(parseJsonDocument(data.stdout)).toMatchObject({ items: names });
    for (const name of ['EVIL red', 'nobody']) {
      const args = ['tts', 'hi', '--voice-name', name, '-o', 'hi.mp3'];
      const unknown = await fixture.run(args, { env: ACTIONS });
      expect(unknown.code).toBe(2);
      expectHarmless(unknown);
    }
  });

  test('as models', async () => {
    const fixture = await createFixture([
      {
        path: CAPABILITIES_PATH,
        answer: json(
          200,
          bodyWith('models', (text) => faults.hostileCapabilities(text)),
        ),
      },
    ]);
    const list = await fixture.run(['models'], { env: ACTIONS });
    expect(list.code).toBe(0);
    expectHarmless(list);
    expect(list.stdout.toString().trimEnd().split('\n')).toHaveLength(all.length + 1);
  });

  test('as a profile, on a terminal', async () => {
    const body = { user_id: everything, tier: everything, api_quota_remaining: 1, credits: 1 };
    const fixture = await createFixture([
      { path: PROFILE_PATH, answer: json(200, JSON.stringify(body)) },
    ]);
    const { sandbox } = fixture;
    const env = { ...fixture.env, FOLEY_PAGER: 'cat' };
    const shown = await (
      await startInTerminal(['profile', '--color', 'never'], { sandbox, env })
    ).done;
    expect(shown.code).toBe(0);
    expect(unsafeCharacters(shown.stdout.toString().replaceAll('\r\n', '\n'))).toStrictEqual([]);
  });

  test('as the response of foley api, on a terminal', async () => {
    const text = JSON.stringify(Object.values(STRINGS));
    const fixture = await createFixture([{ path: PROFILE_PATH, answer: json(200, text) }]);
    const { sandbox, env } = fixture;
    const args = ['api', 'GET', PROFILE_PATH, '--color', 'never'];
    const shown = await (await startInTerminal(args, { sandbox, env })).done;
    expect(shown.code).toBe(0);
    expect(unsafeCharacters(shown.stdout.toString().replaceAll('\r\n', '\n'))).toStrictEqual([]);
  });
});

test('no log line is a command of a build service', async () => {
  const text = '\n::error::EVIL\n##[error]EVIL\n::add-mask::EVIL';
  const fixture = await createFixture([onSpeech(faults.hostileError(500, text))]);
  const result = await fixture.speak(['--verbose'], { env: ACTIONS });
  expect(result.code).toBe(23);
  expectHarmless(result);
});

describe('a server that repeats the key', () => {
  test.each([400, 401, 500])('in a %d: it is masked, in JSON too', async (status) => {
    const fixture = await createFixture([onSpeech(faults.echoOfRequest(status))]);
    const plain = await fixture.speak(['--verbose']);
    expect(plain.stderr).toContain('[redacted]');
    expect(plain.stderr).not.toContain(fixture.key);
    const error = await fixture.fail();
    expect(JSON.stringify(error)).not.toContain(fixture.key);
    expect(error.details).toMatchObject({ credential: '[redacted]' });
  });
});

describe('an invalid key', () => {
  test.each([
    ['a line end inside', 'sk-abc\ndef', /at position 7$/],
    ['a smart quote', '“sk-abcdef”', /at position 1$/],
    ['a Cyrillic letter', 'sk-аbc', /at position 4$/],
    ['a space', 'sk abc', /at position 3$/],
    ['nothing', '', /^FOLEY_API_KEY is empty$/],
    ['white space', ' \n', /is empty$/],
    ['far too much', 'k'.repeat(5_000), /too long/],
  ])('%s: exit 4, with its source and not its value', async (_what, key, message) => {
    const fixture = await createFixture([]);
    const result = await fixture.speak(['--json'], { env: { FOLEY_API_KEY: key } });
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 4, code: 'no_key', billed: 'no', status: null });
    expect(error.message).toMatch(message);
    if (key.trim() !== '') expect(result.stderr).not.toContain(key);
    expect(fixture.server.connections).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('a line end at its end is dropped', async () => {
    const fixture = await createFixture([]);
    expect((await fixture.speak([], { env: { FOLEY_API_KEY: `${fixture.key}\n` } })).code).toBe(0);
    expect(fixture.server.requests[0]?.header('authorization')).toBe(`Bearer ${fixture.key}`);
  });
});

test('a hostile string in the report of a batch is escaped', async () => {
  const fixture = await createFixture([
    { path: JOBS_PATH, answer: faults.hostileError(400, everything) },
  ]);
  const args = ['batch', '--lines', '-', '-v', VOICE, '-m', 'm', '--report', 'report.json'];
  await fixture.run(args, { input: 'One.\n' });
  const report = await readFile(path.join(fixture.sandbox.out, 'report.json'));
  expect(unsafeCharacters(report)).toStrictEqual([]);
  expect(JSON.stringify(parseJsonDocument(report))).toContain(faults.HOSTILE_STRINGS.tags);
});

describe('a URL from the server', () => {
  test('is opened only if it is http, and gets no key at another origin', async () => {
    for (const location of ['file:///etc/passwd', 'javascript:alert(1)', 'ftp://127.0.0.1/a']) {
      const fixture = await createFixture([
        { path: PROFILE_PATH, answer: faults.redirectTo(location) },
      ]);
      const error = errorLine(await fixture.run(['profile', '--json']));
      expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    }
    const other = await startFaultServer([{ answer: faults.captivePortal() }]);
    const fixture = await createFixture([
      { path: PROFILE_PATH, answer: faults.redirectTo(other.origin) },
    ]);
    const error = errorLine(await fixture.run(['profile', '--json']));
    expect(error.message).toBe('the response is text/html, not JSON');
    expect(other.requests[0]?.header('authorization')).toBeUndefined();
  });
});

function json(status: number, body: string): Step[] {
  return answer(status, { 'Content-Type': 'application/json' }, body);
}

/** Joins lists: a body with an item for every string. */
function bodyWith(list: string, make: (text: string) => Step[]): string {
  const bodies = all.map(([, text]) => {
    const written = make(text).flatMap((step) => (step.kind === 'write' ? [step.bytes] : []));
    const body: unknown = JSON.parse(Buffer.from(written.at(-1) ?? []).toString());
    return Object(body);
  });
  return JSON.stringify({ ...bodies[0], [list]: bodies.flatMap((body) => body[list]) });
}

/** Expects that the output cannot control a terminal, hide text, or command a build service. */
function expectHarmless({ stdout, stderr }: RunResult): void {
  for (const output of [stdout.toString(), stderr]) {
    expect(unsafeCharacters(output)).toStrictEqual([]);
    for (const line of output.split('\n')) {
      expect(line).not.toMatch(/^\s*::/);
      expect(line).not.toMatch(/##\w*\[/);
    }
  }
  expect(stderr).not.toMatch(/^(foley: )?EVIL/m);
}
