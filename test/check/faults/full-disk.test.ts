import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { errorLine, parseErrorLine } from '../../harness/error-line.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { onSmallDisk, requireSmallDisk } from '../../harness/small-disk.ts';
import {
  filesLeft,
  KEPT,
  NO_RIGHTS,
  onSpeech,
  outputOf,
  paidAudio,
  createFixture,
  SOON,
  speakWith,
  spooled,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();
const large = { ...mp3, bytes: Buffer.concat(Array.from({ length: 64 }, () => mp3.bytes)) };

/** A text whose speech takes several seconds. */
// Speaking it twice takes minutes on a busy computer.
const LONG_SPEECH_MS = 240_000;
const LONG_TEXT = 'The sea is wide, the wind is cold and the ships are far from here. '.repeat(60);
const VIDEO = ['video', 'create', 'Lighthouse', '-m', 'vendor-video-1-flash'];

/** Returns a command line for a shell. */
const foley = (args: readonly string[]): string => `foley ${args.join(' ')}`;

describe('a full disk', () => {
  test('a file size limit: exit 30, the older file intact, received audio spooled', async () => {
    const fixture = await createFixture([onSpeech(faults.audio(large))]);
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
    const result = await fixture.shell(`ulimit -f 100; ${foley(speakWith(['--json']))}`);
    expect(result.code).toBe(30);
    const error = parseErrorLine(result.stderr);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
    expect(error.message).toBe(
      'cannot write hi.mp3: the file would be larger than is allowed here',
    );
    expect(error.hint).toContain('The received audio is saved in /');
    expect((await outputOf(fixture.sandbox)).toString()).toBe('the older file');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', ...KEPT]);
    const { audio, record } = await spooled(fixture.sandbox);
    expect(audio).toStrictEqual(large.bytes.subarray(0, 102_400));
    expect(record).toMatchObject({ complete: false, creditsUsed: 2 });
  });

  test('the whole audio goes into the spool on another disk, and recover restores it', async () => {
    requireTool('bash');
    requireSmallDisk();
    const fixture = await createFixture([onSpeech(faults.audio(large))]);
    const { out } = fixture.sandbox;
    const script = `
      mount -t tmpfs -o size=64k none small || exit 99
      ${foley(speakWith(['-o', 'small/hi.mp3']))}; echo "first: $?"
      ls -A small; echo "left: $?"
      mount -o remount,size=4m small
      ${foley(['recover'])}; echo "second: $?"
      cp small/hi.mp3 copy.mp3`;
    await mkdir(path.join(out, 'small'));
    await writeFile(path.join(fixture.sandbox.harness, 'small.sh'), script);
    const result = await fixture.shell(
      `unshare --user --map-root-user --mount bash "${fixture.sandbox.harness}/small.sh"`,
    );
    const said = result.stdout.toString();
    expect(said).toMatch(/^first: 30\nleft: 0\n\S+: recovered as .+\/small\/hi\.mp3\nsecond: 0\n$/);
    expect(result.stderr).toContain('cannot write small/hi.mp3: the disk is full');
    expect(await readFile(path.join(out, 'copy.mp3'))).toStrictEqual(large.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/copy.mp3']);
    expect(fixture.server.requests).toHaveLength(1);
  });

  test('is detected before anything is sent', async () => {
    requireSmallDisk();
    const fixture = await createFixture([]);
    const { stderr, stdout } = await onSmallDisk(
      fixture.sandbox,
      16,
      `head -c 8192 /dev/zero > small/used
      ${foley(speakWith(['-o', 'small/hi.mp3']))}; echo "room: $?"
      head -c 8192 /dev/zero >> small/used
      ${foley(speakWith(['-o', 'small/hi.mp3']))}; echo "output: $?"
      ${foley(speakWith(['--timings', 'small/hi.json']))}; echo "captions: $?"
      XDG_STATE_HOME=$PWD/small ${foley(speakWith([]))}; echo "spool: $?"
      ls small`,
      { env: fixture.env },
    );
    // The small disk is in memory: 8 KiB are enough for two letters.
    expect(stdout.toString()).toBe('room: 0\noutput: 30\ncaptions: 30\nspool: 32\nhi.mp3\nused\n');
    expect(stderr).toMatch(/cannot write small\/hi\.mp3: the disk is full: 0 bytes are free/);
    expect(stderr).toMatch(/cannot write small\/hi\.json: the disk is full/);
    expect(stderr).toMatch(/choose another place with --timings/);
    expect(fixture.server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('with output and spool on it: exit 27 if nothing could be spooled', async () => {
    requireSmallDisk();
    const fixture = await createFixture([onSpeech(faults.slowBody(mp3))]);
    const script = `XDG_STATE_HOME=$PWD/small ${foley(speakWith(['-o', 'small/hi.mp3']))} &
      until ls small/foley/journal/*.jsonl; do :; done > list 2>&1
      until ls small/.foley-*.part; do :; done > list 2>&1
      head -c 65536 /dev/zero > small/used 2> list
      touch filled; wait $!; echo "first: $?"
      find small -name '*.part' -o -name '*.mp3'; rm small/used
      XDG_STATE_HOME=$PWD/small ${foley(['recover'])}; echo "second: $?"`;
    const running = onSmallDisk(fixture.sandbox, 64, script, { env: fixture.env });
    await fixture.server.paused();
    await vi.waitFor(() => access(path.join(fixture.sandbox.out, 'filled')), SOON);
    await fixture.server.advance();
    const { stderr, stdout } = await running;
    expect(stdout.toString()).toBe('first: 27\nNothing was left behind.\nsecond: 0\n');
    expect(stderr).toContain('cannot write small/hi.mp3: the disk is full');
    expect(stderr).toContain('The audio was billed and is lost.');
    expect(stderr).not.toContain('saved in');
  });

  test.each([
    [
      'a batch',
      ['batch', 'long.txt', '--output-dir', 'audio'],
      'grep -qs accepted audio/.foley/journal/*',
      ['batch', 'long.txt', '--output-dir', 'audio'],
      'audio/long.mp3',
    ],
    [
      'a job for media',
      [...VIDEO, '-o', 'made.mp4', '--verbose'],
      'grep -qs "/jobs 202" said',
      ['video', 'wait', '$(cat id)', '-o', 'made.mp4'],
      'made.mp4',
    ],
  ])(
    'of the embedded service, after %s was accepted: exit 23 with a message, and the job continues later',
    async (_what, args, isAccepted, next, output) => {
      requireSmallDisk();
      const fixture = await createFixture([]);
      await writeFile(path.join(fixture.sandbox.out, 'long.txt'), LONG_TEXT);
      const { stderr, stdout } = await onSmallDisk(
        fixture.sandbox,
        131_072,
        `export XDG_STATE_HOME=$PWD/small
        ${foley([...args, '--local'])} > id 2> said &
        until ${isAccepted}; do sleep 0.01; done
        cat /dev/zero > small/used 2> list
        wait $!; echo "first: $?"; cat said >&2; rm small/used
        ${foley([...next, '--local'])} > list; echo "second: $?"
        ls ${output}`,
        { env: fixture.env, timeoutMs: LONG_SPEECH_MS },
      );
      expect(stderr).toContain('the disk of the service is full');
      expect(stderr).toContain('Free up disk space there: the service then continues the job.');
      expect(stdout.toString()).toBe(`first: 23\nsecond: 0\n${output}\n`);
      expect(fixture.server.requests).toHaveLength(0);
    },
    2 * LONG_SPEECH_MS,
  );

  test('of the embedded service, while speech arrives: exit 23, and nothing costs again', async () => {
    requireSmallDisk();
    const fixture = await createFixture([]);
    await writeFile(path.join(fixture.sandbox.out, 'long.txt'), LONG_TEXT);
    const args = ['-f', 'long.txt', '-o', 'a.mp3', '--via', 'sync', '-m', 'vendor-s21pro-flash'];
    const { stderr, stdout } = await onSmallDisk(
      fixture.sandbox,
      131_072,
      `export XDG_STATE_HOME=$PWD/small
      ${foley(['tts', ...args, '--local', '--verbose'])} 2> said &
      until grep -qs "speech/tts 200" said; do sleep 0.01; done
      cat /dev/zero > small/used 2> list
      wait $!; echo "first: $?"; cat said >&2`,
      { env: fixture.env },
    );
    expect(stdout.toString()).toBe('first: 23\n');
    expect(stderr).toContain('The disk of the service is full; nothing was charged.');
    expect(stderr).not.toMatch(/cost again|overloaded/);
  });

  test.each(['simple', 'reliable'])(
    'of the embedded service, during a conversation in %s mode: exit 23 as soon as it cannot store',
    async (mode) => {
      requireSmallDisk();
      const fixture = await createFixture([]);
      await writeFile(path.join(fixture.sandbox.out, 'long.txt'), LONG_TEXT);
      const args = ['-f', 'long.txt', '-o', 'a.mp3', '--mode', mode, '-m', 'vendor-s21pro-flash'];
      const { stderr, stdout } = await onSmallDisk(
        fixture.sandbox,
        131_072,
        `export XDG_STATE_HOME=$PWD/small
        ${foley(['live', ...args, '--local', '--verbose'])} 2> said &
        until grep -qs "tts/live 101" said; do sleep 0.01; done
        cat /dev/zero > small/used 2> list
        wait $!; echo "first: $?"; cat said >&2`,
        { env: fixture.env },
      );
      expect(stdout.toString()).toBe('first: 23\n');
      expect(stderr).toContain('The disk of the service is full; this text was not charged.');
      expect(stderr).toContain('Free up disk space and run the command again.');
      expect(stderr).not.toContain('reconnecting');
    },
  );

  test('a full device: exit 30, and the audio is spooled', async () => {
    const fixture = await createFixture([], NO_RIGHTS);
    const error = await fixture.fail(['-o', '/dev/full']);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
    expect(error.message).toBe('cannot write /dev/full: the disk is full');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(mp3.bytes);
    expect((await fixture.run(['recover'])).code).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/ID.mp3']);
  });
});

test('a stream longer than its buffer is lost, and reported', async () => {
  const fixture = await createFixture([onSpeech(faults.largeBody(mp3, 12_000_000))]);
  const script = `(ulimit -f 9216; ${foley(speakWith(['-o', '-', '--json']))} > all.mp3)`;
  // Together they are a usage error: audio and JSON cannot share stdout.
  expect((await fixture.shell(script)).code).toBe(2);
  const result = await fixture.shell(script.replace(' --json', ''));
  expect(result.code).toBe(27);
  expect(result.stderr).toBe(
    'foley: cannot write to stdout: the file would be larger than is allowed here\n' +
      'Write to a file with -o, or check the file or program that stdout is redirected to. The audio was billed and is lost.\n',
  );
  expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/all.mp3']);
  expect((await fixture.run(['recover'])).code).toBe(0);
});

describe('the journal cannot be written', () => {
  test('because its folder is read-only: exit 32, nothing was sent', async () => {
    const fixture = await createFixture([], NO_RIGHTS);
    await chmod(fixture.sandbox.state, 0o500);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 32, code: 'state', billed: 'no', status: null });
    expect(error.hint).toContain('XDG_STATE_HOME');
    expect(fixture.server.requests).toHaveLength(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('because the disk is full: exit 32, nothing was sent', async () => {
    const fixture = await createFixture([]);
    const result = await fixture.shell(`(ulimit -f 0; ${foley(speakWith(['--json']))})`);
    expect(result.code).toBe(32);
    expect(parseErrorLine(result.stderr)).toMatchObject({ code: 'state', billed: 'no' });
    expect(fixture.server.requests).toHaveLength(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('a torn line of a killed command is ignored', async () => {
    const fixture = await createFixture([]);
    const folder = path.join(fixture.sandbox.state, 'foley', 'journal');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, '20240101T000000Z-1-00000000.jsonl'), '\nv1 0123');
    expect((await fixture.speak()).code).toBe(0);
    const recovered = await fixture.run(['recover']);
    expect(recovered).toMatchObject({ code: 0 });
    expect(recovered.stdout.toString()).toBe('Nothing was left behind.\n');
  });
});

describe('an unwritable output, detected before anything is sent', () => {
  test('a read-only folder', async () => {
    const fixture = await createFixture([], NO_RIGHTS);
    await chmod(fixture.sandbox.out, 0o500);
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no', status: null });
    expect(error.message).toBe('cannot write hi.mp3: permission is denied in the current folder');
    expect(fixture.server.connections).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test.each([
    ['a folder that is not there', 'no/hi.mp3', /the folder no does not exist/, /mkdir -p no/],
    ['a file where a folder should be', '/dev/null/hi.mp3', /is a file, not a folder/, /another/],
  ])('%s', async (_what, output, message, hint) => {
    const fixture = await createFixture([]);
    const error = await fixture.fail(['-o', output]);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(fixture.server.connections).toBe(0);
  });

  test('a write-protected file', async () => {
    const fixture = await createFixture([], NO_RIGHTS);
    const file = path.join(fixture.sandbox.out, 'hi.mp3');
    await writeFile(file, 'the older file', { mode: 0o444 });
    const error = await fixture.fail();
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(error.message).toBe('cannot write hi.mp3: it is write-protected');
    expect(error.hint).toContain('chmod u+w');
    expect(fixture.server.connections).toBe(0);
    expect((await outputOf(fixture.sandbox)).toString()).toBe('the older file');
  });
});

describe('an existing file that must stay', () => {
  test('is detected before anything is sent', async () => {
    const fixture = await createFixture([]);
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
    const error = await fixture.fail(['--no-clobber']);
    expect(error).toMatchObject({ exitCode: 31, code: 'exists', billed: 'no' });
    expect(fixture.server.connections).toBe(0);
    expect((await outputOf(fixture.sandbox)).toString()).toBe('the older file');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3']);
  });

  test('that appeared meanwhile is kept, and the audio is spooled', async () => {
    const fixture = await createFixture([onSpeech(faults.slowBody(mp3))]);
    const running = await fixture.start(speakWith(['--no-clobber', '--json']));
    await fixture.server.paused();
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'another file');
    await fixture.server.advance();
    const error = errorLine(await running.done);
    expect(error).toMatchObject({ exitCode: 31, code: 'exists', billed: 'yes' });
    expect(error.hint).toMatch(/`foley recover \S+` restores it/);
    expect((await outputOf(fixture.sandbox)).toString()).toBe('another file');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', ...KEPT]);
    const recovered = await fixture.run(['recover', '--json']);
    expect(recovered.code).toBe(0);
    expect(await outputOf(fixture.sandbox, 'hi-2.mp3')).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi-2.mp3', 'out/hi.mp3']);
  });
});
