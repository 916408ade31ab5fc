import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { SPEECH_PATH } from '../../fault-server/healthy-service.ts';
import { errorLine, parseErrorLine } from '../../harness/error-line.ts';
import { inShell } from '../../harness/in-shell.ts';
import { requireTool, skipWithout } from '../../harness/require-tool.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import type { Scene } from './scene.ts';
import {
  filesLeft,
  KEPT,
  onSpeech,
  outputOf,
  paidAudio,
  RATES,
  scene,
  SPEAK,
  spooled,
  VOICE,
} from './scene.ts';

const { mp3 } = await paidAudio();
const large = { ...mp3, bytes: Buffer.concat(Array.from({ length: 64 }, () => mp3.bytes)) };

/** A fault in the tool must not take this computer's devices away, even where the tests run as root. */
const NO_RIGHTS = { unprivileged: true };

/** A command line for a shell, with the sandbox as its folder. */
const words = (args: readonly string[]): string => `foley ${args.join(' ')}`;

const shell = (stage: Scene, script: string) => inShell(script, { box: stage.box, env: stage.env });

describe('row 61: the disk takes no more', () => {
  test('a file that may not grow: exit 30, the older one intact, what got there is kept', async () => {
    const stage = await scene([onSpeech(faults.audio(large))]);
    await writeFile(path.join(stage.box.out, 'hi.mp3'), 'the older file');
    const result = await shell(stage, `ulimit -f 100; ${words([...SPEAK, '--json'])}`);
    expect(result.code).toBe(30);
    const error = parseErrorLine(result.stderr);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
    expect(error.message).toBe(
      'cannot write hi.mp3: the file would be larger than is allowed here',
    );
    expect(error.hint).toContain('What arrived is kept in /');
    expect((await outputOf(stage.box)).toString()).toBe('the older file');
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3', ...KEPT]);
    const { audio, record } = await spooled(stage.box);
    expect(audio).toStrictEqual(large.bytes.subarray(0, 102_400));
    expect(record).toMatchObject({ complete: false, creditsUsed: 2 });
  });

  test('a full disk: all of it goes into the spool on another, and recover brings it back', async () => {
    requireTool('bash');
    requireSmallDisk();
    const stage = await scene([onSpeech(faults.audio(large))]);
    const { out } = stage.box;
    const script = `
      mount -t tmpfs -o size=64k none small || exit 99
      ${words([...SPEAK, '-o', 'small/hi.mp3'])}; echo "first: $?"
      ls -A small; echo "left: $?"
      mount -o remount,size=4m small
      ${words(['recover'])}; echo "second: $?"
      cp small/hi.mp3 copy.mp3`;
    await mkdir(path.join(out, 'small'));
    await writeFile(path.join(stage.box.harness, 'small.sh'), script);
    const result = await shell(
      stage,
      `unshare --user --map-root-user --mount bash "${stage.box.harness}/small.sh"`,
    );
    const said = result.stdout.toString();
    expect(said).toMatch(/^first: 30\nleft: 0\n\S+: recovered as .+\/small\/hi\.mp3\nsecond: 0\n$/);
    expect(result.stderr).toContain('cannot write small/hi.mp3: the disk is full');
    expect(await readFile(path.join(out, 'copy.mp3'))).toStrictEqual(large.bytes);
    expect(await filesLeft(stage.box)).toStrictEqual(['out/copy.mp3']);
    expect(stage.server.requests).toHaveLength(1);
  });

  test('a device that is full: exit 30, and the audio is kept', async () => {
    const stage = await scene([], NO_RIGHTS);
    const error = await stage.fail(['-o', '/dev/full']);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
    expect(error.message).toBe('cannot write /dev/full: the disk is full');
    expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
    expect((await spooled(stage.box)).audio).toStrictEqual(mp3.bytes);
    expect((await stage.run(['recover'])).code).toBe(0);
    expect(await filesLeft(stage.box)).toStrictEqual(['out/ID.mp3']);
  });
});

test('row 61: a stream that is longer than what is remembered of it is lost, and told so', async () => {
  const stage = await scene([onSpeech(faults.largeBody(mp3, 12_000_000))]);
  const script = `(ulimit -f 9216; ${words([...SPEAK, '-o', '-', '--json'])} > all.mp3)`;
  // Together they are a usage failure: audio and JSON cannot share stdout.
  expect((await shell(stage, script)).code).toBe(2);
  const result = await shell(stage, script.replace(' --json', ''));
  expect(result.code).toBe(30);
  expect(result.stderr).toBe(
    'foley: cannot write to stdout: the file would be larger than is allowed here\n' +
      'The audio was paid for and is lost.\n',
  );
  expect(await filesLeft(stage.box)).toStrictEqual(['out/all.mp3']);
  expect((await stage.run(['recover'])).code).toBe(0);
});

describe('row 62: the journal cannot be written', () => {
  test('because its folder is read-only: exit 32, nothing was sent', async () => {
    const stage = await scene([], NO_RIGHTS);
    await chmod(stage.box.state, 0o500);
    const error = await stage.fail();
    expect(error).toMatchObject({ exitCode: 32, code: 'state', billed: 'no', status: null });
    expect(error.hint).toContain('XDG_STATE_HOME');
    expect(stage.server.requests).toHaveLength(0);
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });

  test('because the disk is full: exit 32, nothing was sent', async () => {
    const stage = await scene([]);
    const result = await shell(stage, `(ulimit -f 0; ${words([...SPEAK, '--json'])})`);
    expect(result.code).toBe(32);
    expect(parseErrorLine(result.stderr)).toMatchObject({ code: 'state', billed: 'no' });
    expect(stage.server.requests).toHaveLength(0);
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });

  test('a torn line of a killed command is passed over', async () => {
    const stage = await scene([]);
    const folder = path.join(stage.box.state, 'foley', 'journal');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, '20240101T000000Z-1-00000000.jsonl'), '\nv1 0123');
    expect((await stage.speak()).code).toBe(0);
    const recovered = await stage.run(['recover']);
    expect(recovered).toMatchObject({ code: 0 });
    expect(recovered.stdout.toString()).toBe('Nothing was left behind.\n');
  });
});

describe('row 63: a place that cannot be written to, found out before anything is sent', () => {
  test('a read-only folder', async () => {
    const stage = await scene([], NO_RIGHTS);
    await chmod(stage.box.out, 0o500);
    const error = await stage.fail();
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no', status: null });
    expect(error.message).toBe('cannot write hi.mp3: permission is denied in the current folder');
    expect(stage.server.connections).toBe(0);
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });

  test.each([
    ['a folder that is not there', 'no/hi.mp3', /the folder no does not exist/, /mkdir -p no/],
    ['a file where a folder should be', '/dev/null/hi.mp3', /is a file, not a folder/, /another/],
  ])('%s', async (_what, output, message, hint) => {
    const stage = await scene([]);
    const error = await stage.fail(['-o', output]);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(stage.server.connections).toBe(0);
  });

  test('a write-protected file', async () => {
    const stage = await scene([], NO_RIGHTS);
    const file = path.join(stage.box.out, 'hi.mp3');
    await writeFile(file, 'the older file', { mode: 0o444 });
    const error = await stage.fail();
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(error.message).toBe('cannot write hi.mp3: it is write-protected');
    expect(error.hint).toContain('chmod u+w');
    expect(stage.server.connections).toBe(0);
    expect((await outputOf(stage.box)).toString()).toBe('the older file');
  });
});

describe('row 64: a name that is taken and must stay', () => {
  test('is found out before anything is sent', async () => {
    const stage = await scene([]);
    await writeFile(path.join(stage.box.out, 'hi.mp3'), 'the older file');
    const error = await stage.fail(['--no-clobber']);
    expect(error).toMatchObject({ exitCode: 31, code: 'exists', billed: 'no' });
    expect(stage.server.connections).toBe(0);
    expect((await outputOf(stage.box)).toString()).toBe('the older file');
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3']);
  });

  test('is left to who took it while the audio came, which is kept', async () => {
    const stage = await scene([onSpeech(faults.slowBody(mp3))]);
    const running = await stage.start([...SPEAK, '--no-clobber', '--json']);
    await stage.server.paused();
    await writeFile(path.join(stage.box.out, 'hi.mp3'), 'somebody else’s');
    await stage.server.advance();
    const error = errorLine(await running.done);
    expect(error).toMatchObject({ exitCode: 31, code: 'exists', billed: 'yes' });
    expect(error.hint).toMatch(/`foley recover \S+` brings it back/);
    expect((await outputOf(stage.box)).toString()).toBe('somebody else’s');
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3', ...KEPT]);
    const recovered = await stage.run(['recover', '--json']);
    expect(recovered.code).toBe(0);
    expect(await outputOf(stage.box, 'hi-2.mp3')).toStrictEqual(mp3.bytes);
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi-2.mp3', 'out/hi.mp3']);
  });
});

describe('row 65: an output that is no regular file', () => {
  test.each(['folder', 'folder/', 'new-folder/'])('a folder: %s', async (output) => {
    const stage = await scene([]);
    await mkdir(path.join(stage.box.out, 'folder'));
    const error = await stage.fail(['-o', output]);
    expect(error).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no' });
    expect(error.message).toContain('is a folder, not a file');
    expect(stage.server.connections).toBe(0);
  });

  test('a FIFO is written into and stays one', async () => {
    const stage = await scene([]);
    const fifo = path.join(stage.box.out, 'pipe.mp3');
    execFileSync('mkfifo', [fifo]);
    const read = readFile(fifo);
    expect((await stage.speak(['-o', 'pipe.mp3'])).code).toBe(0);
    expect(await read).toStrictEqual(mp3.bytes);
    expect((await stat(fifo)).isFIFO()).toBe(true);
  });

  test.each(['/dev/stdout', '/dev/fd/1', '-'])('%s is stdout', async (output) => {
    const stage = await scene([]);
    const result = await shell(stage, `${words([...SPEAK, '-o', output])} | cat`);
    expect(result.pipeStatus).toStrictEqual([0, 0]);
    expect(result.stdout).toStrictEqual(mp3.bytes);
    expect(await filesLeft(stage.box)).toStrictEqual([RATES]);
  });

  test('a device takes it', async () => {
    const stage = await scene([], NO_RIGHTS);
    expect((await stage.speak(['-o', '/dev/null'])).code).toBe(0);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });
});

describe('row 66: an output that is a symbolic link', () => {
  test('to a file: the file is replaced, the link stays', async () => {
    const stage = await scene([]);
    const { out } = stage.box;
    await mkdir(path.join(out, 'elsewhere'));
    await writeFile(path.join(out, 'elsewhere', 'real.mp3'), 'the older file');
    await symlink('elsewhere/real.mp3', path.join(out, 'hi.mp3'));
    expect((await stage.speak()).code).toBe(0);
    expect(await readlink(path.join(out, 'hi.mp3'))).toBe('elsewhere/real.mp3');
    expect(await outputOf(stage.box, 'elsewhere/real.mp3')).toStrictEqual(mp3.bytes);
    expect(await filesLeft(stage.box)).toStrictEqual(['out/elsewhere/real.mp3', RATES]);
  });

  test('to nothing: exit 30 before anything is sent', async () => {
    const stage = await scene([]);
    await symlink('nowhere.mp3', path.join(stage.box.out, 'hi.mp3'));
    const error = await stage.fail();
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(stage.server.connections).toBe(0);
  });
});

describe('row 67: a long name', () => {
  test('of 255 bytes is fine', async () => {
    const stage = await scene([]);
    const name = `${'é'.repeat(125)}x.mp3`;
    expect(Buffer.byteLength(name)).toBe(255);
    expect((await stage.speak(['-o', name])).code).toBe(0);
    expect(await outputOf(stage.box, name)).toStrictEqual(mp3.bytes);
  });

  test('of 256 bytes is told before anything is sent', async () => {
    const stage = await scene([]);
    const error = await stage.fail(['-o', `${'x'.repeat(252)}.mp3`]);
    expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'no' });
    expect(error.message).toContain('the name is longer than the file system allows');
    expect(stage.server.connections).toBe(0);
  });
});

// The plan of a batch, which finds two items with one output, is not there yet.
test('row 68: two commands at once that make up the same name get two files', async () => {
  const stage = await scene([onSpeech(faults.slowBody(mp3))]);
  const args = ['tts', 'same words', '-v', VOICE, '--json'];
  const both = [await stage.start(args), await stage.start(args)];
  await stage.server.received({ path: SPEECH_PATH }, 2);
  await stage.server.advance();
  await stage.server.advance();
  const results = await Promise.all(both.map(({ done }) => done));
  expect(results.map(({ code }) => code)).toStrictEqual([0, 0]);
  for (const name of ['same-words.mp3', 'same-words-2.mp3']) {
    expect(await outputOf(stage.box, name)).toStrictEqual(mp3.bytes);
  }
});

test('row 69: a name that the system refuses at the end: exit 30, and the audio is kept', async () => {
  // That Windows is asked again for ten seconds is tested where time can be injected.
  const stage = await scene([]);
  const script = path.join(stage.box.harness, 'busy.cjs');
  await writeFile(
    script,
    `const files = require('node:fs/promises');
    const { rename } = files;
    files.rename = async (from, to) => {
      if (!to.endsWith('/hi.mp3') && to !== 'hi.mp3') return rename(from, to);
      throw Object.assign(new Error('made up'), { code: 'EBUSY' });
    };`,
  );
  await writeFile(path.join(stage.box.out, 'hi.mp3'), 'the older file');
  const error = await stage.fail([], { env: { NODE_OPTIONS: `--require "${script}"` } });
  expect(error).toMatchObject({ exitCode: 30, code: 'output', billed: 'yes' });
  expect(error.message).toBe('cannot write hi.mp3: another program has it open');
  expect(error.hint).toMatch(/^The audio was paid for and is kept in .+ brings it back\.$/);
  expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3', ...KEPT]);
  expect((await spooled(stage.box)).audio).toStrictEqual(mp3.bytes);
});

describe('row 70: the reader of a pipe goes away', () => {
  // The contract: quietly, with 0.
  test('in the middle of audio', async () => {
    const stage = await scene([onSpeech(faults.endlessBody(mp3))]);
    const result = await shell(stage, `${words([...SPEAK, '-o', '-'])} | head -c 10 | wc -c`);
    expect(result.pipeStatus).toStrictEqual([0, 0, 0]);
    expect(result.stdout.toString().trim()).toBe('10');
    expect(result.stderr).toBe('');
    await stage.server.abandoned();
    // What had come was paid for; whoever wants it finds it for a day.
    expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
    expect((await spooled(stage.box)).record).toMatchObject({ complete: false });
  });

  test.each([['voices list --json'], ['models'], ['--help'], ['--version']])(
    'before anything of a result is written: %s',
    async (command) => {
      const stage = await scene([]);
      const result = await shell(stage, `foley ${command} | true`);
      expect(result.pipeStatus).toStrictEqual([0, 0]);
      expect(result.stderr).toBe('');
    },
  );
});

describe('row 71: stdout is a full disk', () => {
  test('foley tts hi > /dev/full: exit 30, and the audio is kept', async () => {
    const stage = await scene([]);
    const result = await shell(stage, `foley tts hi -v ${VOICE} > /dev/full`);
    expect(result.code).toBe(30);
    expect(result.stderr).toMatch(/^foley: cannot write to stdout: the disk is full\n/);
    expect(result.stderr).toMatch(/`foley recover \S+` brings it back/);
    expect(await filesLeft(stage.box)).toStrictEqual(KEPT);
    const { audio, record } = await spooled(stage.box);
    expect(audio).toStrictEqual(mp3.bytes);
    expect(record).toMatchObject({ complete: true, output: null });
    const recovered = await stage.run(['recover']);
    expect(recovered.code).toBe(0);
    expect(await filesLeft(stage.box)).toStrictEqual([expect.stringMatching(/^out\/ID\.mp3$/)]);
  });

  test.each(['voices list', 'voices list --json', 'models', 'profile', '--help', '--version'])(
    'foley %s > /dev/full: exit 30',
    async (command) => {
      const stage = await scene([]);
      const result = await shell(stage, `foley ${command} > /dev/full`);
      expect(result.code).toBe(30);
      expect(result.stderr).toMatch(/stdout.*(disk is full|ENOSPC)/);
    },
  );
});

describe('row 72: audio and a terminal', () => {
  test('goes into a file with a name, never to the terminal', async () => {
    const stage = await scene([]);
    const { box, env } = stage;
    const running = await startInTerminal(['tts', 'Hi', 'there', '-v', VOICE], { box, env });
    const { code, stdout } = await running.done;
    expect(code).toBe(0);
    expect(stdout.toString()).toContain('hi-there.mp3: ');
    expect(stdout.includes(mp3.bytes.subarray(0, 64))).toBe(false);
    expect(await outputOf(stage.box, 'hi-there.mp3')).toStrictEqual(mp3.bytes);
  });

  test('goes to the terminal when that is said', async () => {
    const stage = await scene([]);
    const { box, env } = stage;
    const args = ['tts', 'Hi', '-v', VOICE, '-o', '-', '-q'];
    const { code, stdout } = await (await startInTerminal(args, { box, env })).done;
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(mp3.bytes.length / 2);
    expect(await filesLeft(stage.box)).toStrictEqual([RATES]);
  });
});

/** A small disk can be made where a user may make a namespace for mounts. */
function requireSmallDisk(): void {
  try {
    const inside = ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'];
    execFileSync('unshare', inside, { stdio: 'ignore' });
  } catch {
    skipWithout('unshare with mounts');
  }
}
