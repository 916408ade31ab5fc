import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { resetBeforeHeaders } from '../../fault-server/faults/cut.ts';
import { errorAnswer } from '../../fault-server/faults/status.ts';
import { MODELS } from '../../fault-server/healthy-service.ts';
import { pause } from '../../fault-server/steps.ts';
import { errorLine } from '../../harness/error-line.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import { filesLeft, outputOf, RATES, createFixture, VOICE } from '../../binary/support/fixture.ts';
import { join, joinAs } from '../../audio/join/parts.ts';
import type { PartsService, PartsServiceOptions } from './parts-service.ts';
import { LIMIT, MODEL, PART_TEXTS, partsService, soundsOf, TEXT } from './parts-service.ts';

const COUNT = PART_TEXTS.length;

interface LongFixture extends Fixture, PartsService {
  /** The whole, of the sound of each part. */
  readonly whole: Buffer;
  speak(more?: readonly string[]): ReturnType<Fixture['run']>;
  args: readonly string[];
}

async function longFixture(
  more: Partial<PartsServiceOptions> & { kind?: 'file' | 'stream'; out?: string } = {},
): Promise<LongFixture> {
  const { format = 'mp3', kind = 'file' } = more;
  const sounds = await soundsOf(format, kind);
  const service = partsService({ format, sounds, ...more });
  const fixture = await createFixture(service.rules);
  await writeFile(path.join(fixture.sandbox.out, 'book.txt'), TEXT);
  const args = ['tts', '-f', 'book.txt', '-v', VOICE, '-m', MODEL, '--max-retries', '0'];
  return {
    ...fixture,
    ...service,
    args,
    whole: (await joinAs(format, Array.from(sounds.values()), { isSeekable: kind === 'file' }))
      .whole,
    speak: (flags = ['-o', `book.${format}`]) => fixture.run([...args, ...flags]),
  };
}

/** A command is killed when so many more requests have come. */
const STEP = process.env['FOLEY_TEST_SIZE'] === 'full' ? 5 : 11;
/** Many commands one after the other. */
const SLOW = { timeout: 120_000 };

/** What is on the disk, but for what makes the next start faster. */
async function leftIn({ sandbox }: Fixture): Promise<string[]> {
  return (await filesLeft(sandbox)).filter((name) => !name.startsWith('cache/'));
}

/** Beside the text. */
const WITH_TEXT = ['out/book.txt'];

/** What a part that failed says, and the id under which it is gone on with. */
function recoverId(text: string): string {
  return /foley recover (\S+?)`/.exec(text)?.[1] ?? 'none';
}

describe('a text that is longer than its model takes', () => {
  test.each(['mp3', 'wav', 'ogg'] as const)('becomes one %s of all its parts', async (format) => {
    const fixture = await longFixture({ format });
    const result = await fixture.speak(['-o', `book.${format}`, '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, `book.${format}`)).toEqual(fixture.whole);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      parts: COUNT,
      creditsUsed: 10 * COUNT,
      quotaRemaining: 100 - COUNT + 1,
      requestId: 'r-0',
      ignoredParameters: [],
      bytes: fixture.whole.length,
    });
    expect(fixture.creates.map(({ part }) => part).sort((a, b) => a - b)).toEqual(
      PART_TEXTS.map((_, at) => at),
    );
    expect(fixture.charged.size).toBe(COUNT);
    expect(await leftIn(fixture)).toEqual([`out/book.${format}`, ...WITH_TEXT, RATES].sort());
  });

  test('is put together in order, whichever part is done first', async () => {
    const fixture = await longFixture({
      statusOf: (part, polls) => (part === 0 && polls < 4 ? 'processing' : 'success'),
    });
    const result = await fixture.speak();
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
  });

  test('shows on a terminal how much of it is spoken', async () => {
    let isShown = false;
    const statusOf = (part: number) => (isShown || part < COUNT - 1 ? 'success' : 'processing');
    const { args, env, sandbox } = await longFixture({ statusOf });
    const running = await startInTerminal([...args, '-o', 'book.mp3'], { env, sandbox });
    const percent = Math.floor((100 * PART_TEXTS.slice(0, -1).join(' ').length) / TEXT.length);
    await running.waitFor('stdout', new RegExp(`part ${COUNT} of ${COUNT}, ${percent} %`));
    isShown = true;
    expect(await running.done).toMatchObject({ code: 0 });
  });

  test('is asked for under keys of the person’s own the second time as well', async () => {
    const fixture = await longFixture();
    for (const name of ['a.mp3', 'b.mp3']) {
      const result = await fixture.speak(['-o', name, '--idempotency-key', 'my-book']);
      expect(result.code, result.stderr).toBe(0);
    }
    expect(fixture.creates).toHaveLength(2 * COUNT);
    expect(fixture.charged.size).toBe(COUNT);
    expect(await outputOf(fixture.sandbox, 'b.mp3')).toEqual(fixture.whole);
  });

  test('is refused with --split never, before anything is sent', async () => {
    const fixture = await longFixture();
    const error = errorLine(await fixture.speak(['--split', 'never', '-o', 'book.mp3', '--json']));
    expect(error).toMatchObject({ code: 'usage', exitCode: 2, billed: 'no' });
    expect(error.message).toMatch(/characters; one request accepts at most 1000/);
    expect(fixture.creates).toEqual([]);
  });

  test('is shown part by part by --dry-run, which sends nothing', async () => {
    const fixture = await longFixture();
    const result = await fixture.speak(['--dry-run', '--json', '-o', 'book.mp3']);
    expect(result.code, result.stderr).toBe(0);
    const { parts } = Object(JSON.parse(result.stdout.toString()));
    expect(parts.map(({ body }: { body: { text: string } }) => body.text)).toEqual(PART_TEXTS);
    expect(fixture.creates).toEqual([]);
  });

  test('counts as a whole for --max-credits', async () => {
    const fixture = await longFixture();
    const limits = ['--credit-rate', '1', '--max-credits', '4000', '-o', 'book.mp3', '--json'];
    const error = errorLine(await fixture.speak(limits));
    expect(error).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(fixture.creates).toEqual([]);
  });
});

describe('a part that fails', () => {
  test('publishes nothing, and recover speaks only what is missing', async () => {
    let failing: string | undefined;
    const fixture = await longFixture({
      // A failed job stays failed.
      statusOf: (part, _polls, key) => {
        if (part === 2) failing ??= key;
        return key === failing ? 'fail' : 'success';
      },
    });
    const error = errorLine(await fixture.speak(['-o', 'book.mp3', '--json']));
    expect(error).toMatchObject({ exitCode: 20, billed: 'yes' });
    expect(error.message).toMatch(/part 3 of 5/);
    expect(await leftIn(fixture)).not.toContain('out/book.mp3');
    const before = fixture.creates.length;
    const result = await fixture.run(['recover', recoverId(error.hint ?? '')]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toMatch(/recovered as .*book\.mp3/);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
    const again = fixture.creates.slice(before).map(({ part }) => part);
    // The failed one under another key; one that was not begun yet may be there as well.
    expect(again).toContain(2);
    expect(fixture.charged.size).toBe(COUNT + 1);
    expect(await leftIn(fixture)).toEqual(['out/book.mp3', ...WITH_TEXT]);
  });

  test('whose job is missing is reported as lost each time, and bought again only with --buy-lost', async () => {
    let failing: string | undefined;
    let gone: string | undefined;
    const fixture = await longFixture({
      statusOf: (part, _polls, key) => {
        if (part === 2) failing ??= key;
        return key === failing ? 'fail' : 'success';
      },
      isGone: (_, key) => key === gone,
    });
    const id = recoverId(errorLine(await fixture.speak(['-o', 'book.mp3', '--json'])).hint ?? '');
    await rm(path.join(fixture.sandbox.state, 'foley', 'long-texts', id, 'part-0001.mp3'));
    [gone] = Array.from(fixture.charged).find(([, at]) => at === 0) ?? [];
    for (const _ of [1, 2, 3]) {
      const told = await fixture.run(['recover', id, '--json']);
      expect(told.code).toBe(27);
      expect(told.stdout.toString()).toMatch(
        /part 1 was billed, but its job job-\w+ is missing.*`foley recover \S+ --buy-lost`/,
      );
    }
    expect(fixture.creates.filter(({ part }) => part === 0)).toHaveLength(1);
    const result = await fixture.run(['recover', id, '--buy-lost']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toMatch(/audio of part 1 is lost; the part is spoken and billed again/);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
    // The failed one and the lost one were asked for under another key, and nothing else was.
    expect(fixture.charged.size).toBe(COUNT + 2);
  });

  test('before anything was billed leaves nothing to resume', async () => {
    const refusal = { code: 'ERR_UNAUTHORIZED', message: 'No.', requestId: 'r' };
    const fixture = await longFixture({ onCreate: () => errorAnswer(401, refusal) });
    const error = errorLine(await fixture.speak(['-o', 'book.mp3', '--json']));
    expect(error).toMatchObject({ exitCode: 4, billed: 'no' });
    expect(await leftIn(fixture)).toEqual(WITH_TEXT);
  });

  test('is listed by recover with what is there and what it cost', async () => {
    const fixture = await longFixture({ statusOf: (part) => (part === 4 ? 'fail' : 'success') });
    await fixture.speak();
    const listed = await fixture.run(['recover', '--list', '--json']);
    const { items } = Object(JSON.parse(listed.stdout.toString()));
    expect(items).toEqual([
      expect.objectContaining({
        what: 'text in parts (4 of 5 are here)',
        creditsUsed: 40,
        output: path.join(fixture.sandbox.out, 'book.mp3'),
      }),
    ]);
  });
});

/** Each request twice. */
const twice = (fixture: LongFixture, more: readonly string[]) =>
  fixture.run([...fixture.args.slice(0, -1), '1', '-o', 'book.mp3', ...more]);

describe('a part that stalls or breaks off', () => {
  const unavailable = { code: 'ERR_INTERNAL', message: 'Busy.', requestId: 'r' };

  test('is asked for again by itself, under the same key', async () => {
    const fixture = await longFixture({
      onCreate: (part, count) =>
        part === 2 && count === 1 ? errorAnswer(503, unavailable) : undefined,
    });
    const result = await twice(fixture, []);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
    expect(new Set(fixture.creates.map(({ key }) => key)).size).toBe(COUNT);
    expect(fixture.charged.size).toBe(COUNT);
  });

  test('is fetched again when its job is paid for', async () => {
    const fixture = await longFixture({
      beforeAudio: (part, count) => (part === 2 && count <= 1 ? [pause()] : []),
    });
    const result = await twice(fixture, ['--idle-timeout', '1s', '--response-timeout', '1s']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
    expect(fixture.creates).toHaveLength(COUNT);
  });

  test('whose polls get no response is named once, and waited for', async () => {
    const fixture = await longFixture({
      statusOf: (part, count) => (part === 2 && count <= 3 ? 'processing' : 'success'),
      onPoll: (part, count) =>
        part === 2 && (count === 2 || count === 3) ? resetBeforeHeaders() : undefined,
    });
    const result = await fixture.speak(['-o', 'book.mp3']);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr.match(/^foley: .*; retrying$/gm)).toHaveLength(1);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
    expect(fixture.creates).toHaveLength(COUNT);
  });

  test('is given up after as many tries as --max-retries says', async () => {
    const fixture = await longFixture({
      onCreate: (part) => (part === 2 ? errorAnswer(503, unavailable) : undefined),
    });
    const error = errorLine(await twice(fixture, ['--json']));
    expect(error).toMatchObject({ exitCode: 23 });
    expect(fixture.creates.filter(({ part }) => part === 2)).toHaveLength(2);
  });
});

test('without -m the text is cut for the default model of the voice, which is sent', async () => {
  const models = MODELS.map((model, index) => {
    return { ...model, maxTextLength: index === 0 ? LIMIT : 100 };
  });
  const fixture = await longFixture({ models });
  const args = fixture.args.filter((arg) => arg !== '-m' && arg !== MODEL);
  const result = await fixture.run([...args, '-o', 'book.mp3']);
  expect(result.code, result.stderr).toBe(0);
  expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
  const bodies = fixture.server.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => Object(JSON.parse(body.toString())).modelId);
  expect(new Set(bodies)).toEqual(new Set([MODEL]));
});

describe('where there are no jobs', () => {
  test('the parts of a file are streams, and what is there is not spoken again', async () => {
    const failure = { code: 'ERR_GENERATION_FAILED', message: 'No.', requestId: 'r' };
    const fixture = await longFixture({
      kind: 'stream',
      onCreate: (part, count) =>
        part === 3 && count === 1 ? errorAnswer(500, failure) : undefined,
    });
    const error = errorLine(await fixture.speak(['--via', 'sync', '-o', 'book.mp3', '--json']));
    expect(error).toMatchObject({ exitCode: 23, billed: 'yes' });
    const before = fixture.creates.length;
    const result = await fixture.run(['recover', recoverId(error.hint ?? '')]);
    expect(result.code, result.stderr).toBe(0);
    const sounds = Array.from((await soundsOf('mp3', 'stream')).values());
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(join('mp3', sounds));
    const again = fixture.creates.slice(before).map(({ part }) => part);
    expect(again).toContain(3);
    expect(fixture.creates).toHaveLength(COUNT + 1);
  });
});

describe('a command that is killed', () => {
  test('is gone on with: no part is paid for twice', async () => {
    let isHeld = true;
    const fixture = await longFixture({
      onCreate: (part) => (part === 3 && isHeld ? [pause()] : undefined),
    });
    const running = await fixture.start([...fixture.args, '-o', 'book.mp3']);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    isHeld = false;
    const result = await fixture.run(['recover', '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
    expect(fixture.charged.size).toBe(COUNT);
    const keys = new Set(fixture.creates.map(({ key }) => key));
    expect(keys.size).toBe(COUNT);
    expect(await leftIn(fixture)).toEqual(['out/book.mp3', ...WITH_TEXT]);
    const nothing = await fixture.run(['recover']);
    expect(nothing.stdout.toString()).toMatch(/Nothing was left behind/);
  });

  test('again and again, after every few requests, and comes to its end', SLOW, async () => {
    const fixture = await longFixture({ format: 'wav' });
    const first = [...fixture.args, '-o', 'book.wav'];
    const isDone = async (): Promise<boolean> =>
      (await leftIn(fixture)).every((name) => !name.startsWith('state/foley/long-texts'));
    let kills = 0;
    for (let args: readonly string[] = first; kills < 30; args = ['recover']) {
      const count = fixture.server.requests.length + STEP;
      const running = await fixture.start(args);
      await Promise.race([fixture.server.received({}, count), running.done]);
      running.signal('SIGKILL');
      await running.done;
      kills += 1;
      if (await isDone()) break;
    }
    expect(kills).toBeGreaterThan(1);
    const result = await fixture.run(['recover']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, 'book.wav')).toEqual(fixture.whole);
    expect(fixture.charged.size).toBe(COUNT);
    expect(new Set(fixture.creates.map(({ key }) => key)).size).toBe(COUNT);
    expect(await leftIn(fixture)).toEqual(['out/book.txt', 'out/book.wav']);
  });

  test('and stopped in order says how to go on', async () => {
    const fixture = await longFixture({
      onCreate: (part) => (part === 4 ? [pause()] : undefined),
    });
    const running = await fixture.start([...fixture.args, '-o', 'book.mp3']);
    await fixture.server.paused();
    running.signal('SIGINT');
    const result = await running.done;
    expect(result.stderr).toMatch(/`foley recover \S+` fetches them and speaks the rest/);
    expect(result.signal ?? result.code).toBe('SIGINT');
  });
});

/** A text of which part 4 was never spoken: the command was killed while it was asked for. */
async function killedAtPart4(more: Parameters<typeof longFixture>[0] = {}) {
  let isHeld = true;
  const fixture = await longFixture({
    onCreate: (part) => (part === 3 && isHeld ? [pause()] : undefined),
    ...more,
  });
  const running = await fixture.start([...fixture.args, '-o', 'book.mp3']);
  await fixture.server.paused();
  // The part behind it comes in meanwhile.
  await expect.poll(async () => (await leftIn(fixture)).join()).toMatch(/part-0005\.mp3/);
  running.signal('SIGKILL');
  await running.done;
  isHeld = false;
  const folder = path.join(fixture.sandbox.state, 'foley', 'long-texts');
  const [id = ''] = await readdir(folder);
  return { ...fixture, id, folder: path.join(folder, id) };
}

const DAMAGES: readonly (readonly [string, (file: string) => Promise<void>])[] = [
  ['is empty', (file) => truncate(file, 0)],
  ['is cut', (file) => truncate(file, 100)],
  ['is full of NUL bytes', async (file) => writeFile(file, Buffer.alloc((await stat(file)).size))],
  ['is gone', (file) => rm(file)],
];

describe('a damaged record', () => {
  test.each(DAMAGES)('whose journal %s is recovered from its plan', async (_, damage) => {
    const fixture = await killedAtPart4();
    await damage(path.join(fixture.folder, 'journal.jsonl'));
    const result = await fixture.run(['recover']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, 'book.mp3')).toEqual(fixture.whole);
    expect(fixture.charged.size).toBe(COUNT);
  });

  test.each(DAMAGES.slice(0, 2))(
    'of which nothing can be read is listed: its journal %s',
    async (_, damage) => {
      const fixture = await killedAtPart4();
      await rm(path.join(fixture.folder, 'plan.jsonl'));
      await damage(path.join(fixture.folder, 'journal.jsonl'));
      const listed = await fixture.run(['recover', '--list']);
      expect(listed.code).toBe(32);
      expect(listed.stdout.toString()).toContain(fixture.id);
      const told = await fixture.run(['recover']);
      expect(told.code).toBe(32);
      expect(told.stdout.toString()).toContain(fixture.folder);
      expect(told.stdout.toString()).toMatch(/4 audio files/);
      const doctor = await fixture.run(['doctor']);
      expect(doctor.stdout.toString()).toMatch(/unreadable.*foley recover --list/s);
      const forgotten = await fixture.run(['recover', '--forget', fixture.id]);
      expect(forgotten.code, forgotten.stderr).toBe(0);
      const nothing = await fixture.run(['recover']);
      expect(nothing.code).toBe(0);
      expect(nothing.stdout.toString()).toMatch(/Nothing was left behind/);
    },
  );

  test('of streams buys nothing again that is on the disk', async () => {
    const failure = { code: 'ERR_GENERATION_FAILED', message: 'No.', requestId: 'r' };
    const fixture = await longFixture({
      kind: 'stream',
      onCreate: (part, count) =>
        part === 3 && count === 1 ? errorAnswer(400, failure) : undefined,
    });
    const flags = ['--via', 'sync', '-o', 'book.mp3', '--json'];
    const id = recoverId(errorLine(await fixture.speak(flags)).hint ?? '');
    const folder = path.join(fixture.sandbox.state, 'foley', 'long-texts', id);
    await truncate(path.join(folder, 'journal.jsonl'), 0);
    const before = fixture.creates.length;
    const result = await fixture.run(['recover', id]);
    expect(result.code, result.stderr).toBe(0);
    const again = fixture.creates.slice(before).map(({ part }) => part);
    expect(again).toContain(3);
    expect(fixture.creates).toHaveLength(COUNT + 1);
  });

  test('whose text is damaged is listed with its folder, and nothing else is spoken', async () => {
    const fixture = await killedAtPart4();
    await truncate(path.join(fixture.folder, 'text.txt'), 1_500);
    const before = fixture.creates.length;
    const told = await fixture.run(['recover']);
    expect(told.code).toBe(32);
    expect(told.stdout.toString()).toContain(fixture.folder);
    expect(fixture.creates).toHaveLength(before);
  });
});

describe('to stdout', () => {
  test('the first part is heard while the next ones are made', async () => {
    const fixture = await longFixture({
      format: 'wav',
      kind: 'stream',
      beforeStream: (part) => (part === 0 ? [] : [pause()]),
    });
    const running = await fixture.start([...fixture.args, '--format', 'wav', '-o', '-']);
    await running.waitFor('stdout', /^RIFF/);
    await fixture.server.paused();
    for (let part = 1; part < COUNT; part += 1) await fixture.server.advance();
    const result = await running.done;
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout).toEqual(fixture.whole);
    expect(await leftIn(fixture)).toEqual([...WITH_TEXT, RATES]);
  });

  test('billed parts that were not played are reported by recover', async () => {
    const failure = { code: 'ERR_GENERATION_FAILED', message: 'No.', requestId: 'r' };
    const fixture = await longFixture({
      kind: 'stream',
      onCreate: (part) => (part === 2 ? errorAnswer(500, failure) : undefined),
    });
    const result = await fixture.speak(['-o', '-']);
    expect(result.code).toBe(23);
    const sounds = await soundsOf('mp3', 'stream');
    const heard = join('mp3', Array.from(sounds.values()).slice(0, 2), { isSeekable: false });
    expect(result.stdout).toEqual(heard);
    const told = await fixture.run(['recover', '--json']);
    const { items } = Object(JSON.parse(told.stdout.toString()));
    const waste = items.filter((one: { outcome: string }) => one.outcome === 'lost');
    expect(waste.length).toBeLessThanOrEqual(1);
    expect(told.code).toBe(waste.length === 0 ? 0 : 27);
  });
});

test('a text that the model takes as it is stays one request', async () => {
  const fixture = await longFixture();
  const short = PART_TEXTS[0] ?? '';
  await writeFile(path.join(fixture.sandbox.out, 'book.txt'), short);
  const result = await fixture.speak(['-o', 'book.mp3', '--json']);
  expect(result.code, result.stderr).toBe(0);
  expect(JSON.parse(result.stdout.toString())).toMatchObject({ parts: 1 });
  expect(await readFile(path.join(fixture.sandbox.out, 'book.mp3'))).toEqual(
    (await soundsOf('mp3', 'file')).get(short),
  );
});
