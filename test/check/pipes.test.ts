import { devNull } from 'node:os';
import { lstat, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { largeBody } from '../fault-server/catalogue.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { inShell } from '../harness/in-shell.ts';
import { mp3Frames } from '../harness/mp3-frames.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startHostedService } from '../binary/support/hosted-service.ts';
import { expectSound, expectSoundIn, longText } from '../binary/support/sound.ts';
import { requireFullDevice } from '../harness/posix.ts';

const { mp3 } = await tinyAudio();
const MEBIBYTE = 1_048_576;

async function sandboxWithLongText() {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'long.txt'), longText(3_000));
  return sandbox;
}

test('text through a pipe comes out as speech in a pipe', async () => {
  const result = await inShell('echo "hi" | foley tts --local | cat > hi.mp3');
  expect(result.pipeStatus).toEqual([0, 0, 0]);
  await expectSoundIn(result.sandbox, 'hi.mp3');
});

test('another program plays what comes through the pipe', async () => {
  requireTool('mpg123');
  const result = await inShell('echo "hi" | foley tts --local | mpg123 -t -');
  expect(result.pipeStatus).toEqual([0, 0, 0]);
  expect(result.stderr).toMatch(/Decoding of - finished\.|finished/);
  expect(result.stderr).not.toMatch(/^(?:Warning|Note)|\berror\b/im);
});

describe('a reader that goes away', () => {
  test('ends the tool quietly with 0', async () => {
    const sandbox = await sandboxWithLongText();
    const script = 'foley tts -f long.txt -o - --local | head -c 10';
    const result = await inShell(script, { sandbox });
    expect(result.pipeStatus).toEqual([0, 0]);
    expect(result.stdout).toHaveLength(10);
    expect(result.stderr).toBe('');
  });

  test('ends the download too', async () => {
    const { server, env } = await startHostedService([
      { method: 'POST', path: SPEECH_PATH, answer: largeBody(mp3, 64 * MEBIBYTE) },
    ]);
    const running = await startFoley(['tts', 'Hi'], { env, holdStdout: true });
    await server.received({ path: SPEECH_PATH });
    running.closeOutput('stdout');
    const gone = await server.abandoned();
    expect(gone.answer.bytesWritten).toBeLessThan(16 * MEBIBYTE);
    expect(await running.done).toMatchObject({ code: 0, stderr: '' });
  });

  test('of a table or of help is no failure either', async () => {
    const result = await inShell('foley voices list --local | head -c 1; foley --help | head -c 1');
    expect(result).toMatchObject({ code: 0, stderr: '', pipeStatus: [0, 0] });
  });
});

test('a reader that is slow slows the download, and gets everything', async () => {
  const answer = largeBody(mp3, 64 * MEBIBYTE);
  const { server, env } = await startHostedService([{ method: 'POST', path: SPEECH_PATH, answer }]);
  const slow = await startFoley(['tts', 'Hi'], { env, holdStdout: true });
  const request = await server.received({ path: SPEECH_PATH }, 1);
  // As long as a reader that reads needs for all of it, the other one gets no further.
  const fast = await runFoley(['tts', 'Hi'], { env });
  expect(fast.stdout.length).toBeGreaterThanOrEqual(64 * MEBIBYTE);
  expect(request.answer).toMatchObject({ state: 'running' });
  expect(request.answer.bytesWritten).toBeLessThan(16 * MEBIBYTE);
  slow.resumeStdout();
  const { code, stdout } = await slow.done;
  expect(code).toBe(0);
  expect(stdout.equals(fast.stdout)).toBe(true);
});

describe('an output that fills up is exit 30', () => {
  test('on stdout', async () => {
    const result = await runFoley(['tts', 'Hi', '--local'], {
      stdout: { path: requireFullDevice() },
    });
    expect(result.code, result.stderr).toBe(30);
    expect(result.stderr).toMatch(/^foley: .*stdout.*\n/);
  });

  test('as a file', async () => {
    const result = await runFoley(['tts', 'Hi', '--local', '-o', requireFullDevice()]);
    expect(result.code, result.stderr).toBe(30);
    expect(result.stderr).toMatch(/^foley: cannot write \/dev\/full: /);
  });

  test('for a table and for help', async () => {
    for (const args of [['voices', 'list', '--local'], ['tts', '--help'], ['--version']]) {
      const result = await runFoley(args, { stdout: { path: requireFullDevice() } });
      expect(result.code, `${args.join(' ')}: ${result.stderr}`).toBe(30);
    }
  });
});

describe('outputs that are no regular files are written directly', () => {
  test('a FIFO stays a FIFO', async () => {
    const script =
      'mkfifo pipe.mp3; cat pipe.mp3 > copy.mp3 & foley tts Hi -o pipe.mp3 --local && wait';
    const { sandbox, code, stderr } = await inShell(script);
    expect(code, stderr).toBe(0);
    expect((await lstat(path.join(sandbox.out, 'pipe.mp3'))).isFIFO()).toBe(true);
    await expectSoundIn(sandbox, 'copy.mp3');
  });

  test('a process substitution gets the audio', async () => {
    const script = 'foley tts "Hello there." -o >(cat > copy.mp3) --local && wait $!';
    const { sandbox, code, stderr } = await inShell(script);
    expect(code, stderr).toBe(0);
    await expectSoundIn(sandbox, 'copy.mp3');
  });

  test('/dev/stdout is the stdout that there is', async () => {
    const result = await inShell(
      'printf start > both; foley tts Hi -o /dev/stdout --local >> both',
    );
    expect(result.code, result.stderr).toBe(0);
    const both = await readFile(path.join(result.sandbox.out, 'both'));
    expect(both.toString('latin1', 0, 5)).toBe('start');
    await expectSound(both.subarray(5));
  });

  test('the null device takes it', async () => {
    const result = await runFoley(['tts', 'Hi', '-o', devNull, '--local']);
    expect(result.code, result.stderr).toBe(0);
  });
});

test('stdout has whole frames to the last byte', async () => {
  const result = await runFoley(['tts', longText(600), '--local']);
  expect(mp3Frames(result.stdout).length).toBeGreaterThan(500);
});
