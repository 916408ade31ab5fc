import { execFileSync } from 'node:child_process';
import { mkdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import {
  ALIGNED_PATH,
  audioEvent,
  completedEvent,
  eventsAround,
  snapshotEvent,
} from '../../fault-server/faults/aligned.ts';
import { SPEECH_PATH } from '../../fault-server/healthy-service.ts';
import type { Answer } from '../../fault-server/script.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import {
  filesLeft,
  KEPT,
  NO_RIGHTS,
  onSpeech,
  outputOf,
  paidAudio,
  RATES,
  createFixture,
  SPEAK,
  speakWith,
  spooled,
  VOICE,
} from '../../binary/support/fixture.ts';

const { mp3, wav } = await paidAudio();

describe('an output that is not a regular file', () => {
  test.each(['folder', 'folder/', 'new-folder/'])('a folder: %s', async (output) => {
    const fixture = await createFixture([]);
    await mkdir(path.join(fixture.sandbox.out, 'folder'));
    const error = await fixture.fail(['-o', output]);
    expect(error).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no' });
    expect(error.message).toContain('is a folder, not a file');
    expect(fixture.server.connections).toBe(0);
  });

  test('a FIFO is written and stays a FIFO', async () => {
    const fixture = await createFixture([]);
    const fifo = path.join(fixture.sandbox.out, 'pipe.mp3');
    execFileSync('mkfifo', [fifo]);
    const read = readFile(fifo);
    expect((await fixture.speak(['-o', 'pipe.mp3'])).code).toBe(0);
    expect(await read).toStrictEqual(mp3.bytes);
    expect((await stat(fifo)).isFIFO()).toBe(true);
  });

  test.each(['/dev/stdout', '/dev/fd/1', '-'])('%s is stdout', async (output) => {
    const fixture = await createFixture([]);
    const result = await fixture.shell(`foley ${speakWith(['-o', output]).join(' ')} | cat`);
    expect(result.pipeStatus).toStrictEqual([0, 0]);
    expect(result.stdout).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([RATES]);
  });

  test('a device is written', async () => {
    const fixture = await createFixture([], NO_RIGHTS);
    expect((await fixture.speak(['-o', '/dev/null'])).code).toBe(0);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });
});

describe('an output that is a symbolic link', () => {
  test('to a file: the file is replaced, the link stays', async () => {
    const fixture = await createFixture([]);
    const { out } = fixture.sandbox;
    await mkdir(path.join(out, 'elsewhere'));
    await writeFile(path.join(out, 'elsewhere', 'real.mp3'), 'the older file');
    await symlink('elsewhere/real.mp3', path.join(out, 'hi.mp3'));
    expect((await fixture.speak()).code).toBe(0);
    expect(await readlink(path.join(out, 'hi.mp3'))).toBe('elsewhere/real.mp3');
    expect(await outputOf(fixture.sandbox, 'elsewhere/real.mp3')).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/elsewhere/real.mp3', RATES]);
  });

  test('to a missing file: exit 30 before anything is sent', async () => {
    const fixture = await createFixture([]);
    await symlink('nowhere.mp3', path.join(fixture.sandbox.out, 'hi.mp3'));
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(fixture.server.connections).toBe(0);
  });
});

describe('a long name', () => {
  test('of 255 bytes works', async () => {
    const fixture = await createFixture([]);
    const name = `${'é'.repeat(125)}x.mp3`;
    expect(Buffer.byteLength(name)).toBe(255);
    expect((await fixture.speak(['-o', name])).code).toBe(0);
    expect(await outputOf(fixture.sandbox, name)).toStrictEqual(mp3.bytes);
  });

  test('of 256 bytes fails before anything is sent', async () => {
    const fixture = await createFixture([]);
    const error = await fixture.fail(['-o', `${'x'.repeat(252)}.mp3`]);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(error.message).toContain('the name is longer than the file system allows');
    expect(fixture.server.connections).toBe(0);
  });
});

test('two concurrent commands with the same automatic name get two files', async () => {
  const fixture = await createFixture([onSpeech(faults.slowBody(mp3))]);
  const args = ['tts', 'same words', '-v', VOICE, '--json'];
  const both = [await fixture.start(args), await fixture.start(args)];
  await fixture.server.received({ path: SPEECH_PATH }, 2);
  await fixture.server.advance();
  await fixture.server.advance();
  const results = await Promise.all(both.map(({ done }) => done));
  expect(results.map(({ code }) => code)).toStrictEqual([0, 0]);
  for (const name of ['same-words.mp3', 'same-words-2.mp3']) {
    expect(await outputOf(fixture.sandbox, name)).toStrictEqual(mp3.bytes);
  }
});

test('a rename that fails: exit 30, and the audio is spooled', async () => {
  // The retries on Windows are tested with an injected clock.
  const fixture = await createFixture([]);
  const script = path.join(fixture.sandbox.harness, 'busy.cjs');
  await writeFile(
    script,
    `const files = require('node:fs');
    const { rename } = files;
    files.rename = (from, to, done) => {
      if (!to.endsWith('/hi.mp3') && to !== 'hi.mp3') rename(from, to, done);
      else done(Object.assign(new Error('made up'), { code: 'EBUSY' }));
    };`,
  );
  await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
  const error = await fixture.fail([], { env: { NODE_OPTIONS: `--require "${script}"` } });
  expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
  expect(error.message).toBe('cannot write hi.mp3: another program has it open');
  expect(error.hint).toMatch(/^The audio was billed and is saved in .+ restores it\.$/);
  expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', ...KEPT]);
  expect((await spooled(fixture.sandbox)).audio).toStrictEqual(mp3.bytes);
});

describe('a folder that is removed while the audio arrives', () => {
  const halves = [mp3.bytes.subarray(0, 100), mp3.bytes.subarray(100)] as const;
  const aligned = eventsAround(
    [audioEvent(halves[0])],
    [audioEvent(halves[1]), snapshotEvent(0, [['hi', 20, 400]]), completedEvent()],
  );
  const cases: readonly (readonly [string, readonly string[], string, Answer])[] = [
    ['plain mp3', ['-o', 'gone/hi.mp3'], SPEECH_PATH, faults.stallMidBody(mp3)],
    ['plain wav', ['-o', 'gone/hi.wav'], SPEECH_PATH, faults.stallMidBody(wav)],
    ['a stream with word times', ['-o', 'gone/hi.mp3', '--via', 'aligned'], ALIGNED_PATH, aligned],
    [
      'audio with captions',
      ['-o', 'gone/hi.mp3', '--timings', 'gone/hi.json', '--subtitles', 'hi.srt'],
      ALIGNED_PATH,
      aligned,
    ],
  ];

  test.each(cases)('%s is spooled, and recovered', async (what, args, at, answer) => {
    const fixture = await createFixture([{ method: 'POST', path: at, answer }]);
    const folder = path.join(fixture.sandbox.out, 'gone');
    await mkdir(folder);
    const speaking = fixture.fail(args);
    await fixture.server.paused();
    await rm(folder, { recursive: true });
    await fixture.server.advance();
    const error = await speaking;
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
    expect(error.hint).toMatch(/^The audio was billed and is saved in .+ restores it\./);
    const sound = what === 'plain wav' ? wav : mp3;
    expect((await spooled(fixture.sandbox)).audio).toHaveLength(sound.bytes.length);
    expect((await fixture.run(['recover'])).code).toBe(30);
    await mkdir(folder);
    expect((await fixture.run(['recover'])).code).toBe(0);
    expect((await outputOf(fixture.sandbox, args[1])).subarray(-100)).toStrictEqual(
      sound.bytes.subarray(-100),
    );
    expect(fixture.server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

describe('a closed pipe', () => {
  // The contract: silent, exit 0.
  test('in the middle of audio', async () => {
    const fixture = await createFixture([onSpeech(faults.endlessBody(mp3))]);
    const result = await fixture.shell(
      `foley ${speakWith(['-o', '-']).join(' ')} | head -c 10 | wc -c`,
    );
    expect(result.pipeStatus).toStrictEqual([0, 0, 0]);
    expect(result.stdout.toString().trim()).toBe('10');
    expect(result.stderr).toBe('');
    await fixture.server.abandoned();
    // The received audio was billed, and stays in the spool for a day.
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    expect((await spooled(fixture.sandbox)).record).toMatchObject({ complete: false });
  });

  test.each([['voices list --json'], ['models'], ['--help'], ['--version']])(
    'before a result is written: %s',
    async (command) => {
      const fixture = await createFixture([]);
      const result = await fixture.shell(`foley ${command} | true`);
      expect(result.pipeStatus).toStrictEqual([0, 0]);
      expect(result.stderr).toBe('');
    },
  );
});

describe('stdout is a full disk', () => {
  test('foley tts hi > /dev/full: exit 30, and the audio is spooled', async () => {
    const fixture = await createFixture([]);
    const result = await fixture.shell(`foley tts hi -v ${VOICE} > /dev/full`);
    expect(result.code).toBe(30);
    expect(result.stderr).toMatch(/^foley: cannot write to stdout: the disk is full\n/);
    expect(result.stderr).toMatch(/`foley recover \S+` restores it/);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    const { audio, record } = await spooled(fixture.sandbox);
    expect(audio).toStrictEqual(mp3.bytes);
    expect(record).toMatchObject({ complete: true, output: null });
    const recovered = await fixture.run(['recover']);
    expect(recovered.code).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([
      expect.stringMatching(/^out\/ID\.mp3$/),
    ]);
  });

  test.each(['voices list', 'voices list --json', 'models', 'profile', '--help', '--version'])(
    'foley %s > /dev/full: exit 30',
    async (command) => {
      const fixture = await createFixture([]);
      const result = await fixture.shell(`foley ${command} > /dev/full`);
      expect(result.code).toBe(30);
      expect(result.stderr).toMatch(/stdout.*(disk is full|ENOSPC)/);
    },
  );
});

describe('stdout is closed', () => {
  test.each([
    `tts hi -v ${VOICE}`,
    `tts hi -v ${VOICE} -o -`,
    `jobs create hi -v ${VOICE} -o -`,
    `live hi -v ${VOICE} -m vendor-s21pro -o -`,
    'jobs download job-1 -o -',
    'api POST /api/open/v3/text-to-speech --field text=hi',
  ])('foley %s >&-: exit 30 before anything is sent', async (command) => {
    const fixture = await createFixture([]);
    const result = await fixture.shell(`foley ${command} >&-`);
    expect(result.stderr).toMatch(/^foley: stdout is closed/);
    expect(result.code).toBe(30);
    expect(fixture.server.connections).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('a file is written anyway, and audio may go to /dev/null', async () => {
    const fixture = await createFixture([]);
    expect((await fixture.shell(`foley ${SPEAK.join(' ')} >&-`)).code).toBe(0);
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
    expect((await fixture.shell(`foley tts hi -v ${VOICE} > /dev/null`)).code).toBe(0);
  });
});

describe('audio and a terminal', () => {
  test('goes into a file, never to the terminal', async () => {
    const fixture = await createFixture([]);
    const { sandbox, env } = fixture;
    const running = await startInTerminal(['tts', 'Hi', 'there', '-v', VOICE], { sandbox, env });
    const { code, stdout } = await running.done;
    expect(code).toBe(0);
    expect(stdout.toString()).toContain('hi-there.mp3: ');
    expect(stdout.includes(mp3.bytes.subarray(0, 64))).toBe(false);
    expect(await outputOf(fixture.sandbox, 'hi-there.mp3')).toStrictEqual(mp3.bytes);
  });

  test('goes to the terminal with -o -', async () => {
    const fixture = await createFixture([]);
    const { sandbox, env } = fixture;
    const args = ['tts', 'Hi', '-v', VOICE, '-o', '-', '-q'];
    const { code, stdout } = await (await startInTerminal(args, { sandbox, env })).done;
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(mp3.bytes.length / 2);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([RATES]);
  });
});
