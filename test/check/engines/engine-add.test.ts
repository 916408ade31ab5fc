import { execFileSync } from 'node:child_process';
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentOf, cutAfter, TAG } from '../../engines/model-files.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { answer, head } from '../../fault-server/http-text.ts';
import { pause, write } from '../../fault-server/steps.ts';
import { errorLine } from '../../harness/error-line.ts';
import { inShell } from '../../harness/in-shell.ts';
import { skipWithout } from '../../harness/require-tool.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';

// The checksums are pinned, so that only the real files pass: here the download always ends with exit 25.
const VOICE_BYTES = 522_240;
const JUNK = contentOf('junk', VOICE_BYTES);
const HALF = 200_000;

const add = (origin: string, ...more: readonly string[]): string[] => [
  ...'engine add kokoro --voice af_heart --yes --json --from'.split(' '),
  origin,
  ...more,
];

const voicesOf = (sandbox: Sandbox): string =>
  path.join(sandbox.home, '.local/share/foley/models/kokoro/voices');

/** Waits until the part that has arrived is on the disk. */
async function untilHalf(sandbox: Sandbox): Promise<void> {
  await expect
    .poll(async () => {
      const part = path.join(voicesOf(sandbox), 'af_heart.bin.part');
      return (await stat(part).catch(() => undefined))?.size;
    })
    .toBe(HALF);
}

const halfThenPause = [
  head(200, { 'Content-Length': String(VOICE_BYTES), ETag: TAG }),
  write(JUNK.subarray(0, HALF)),
  pause(),
];

describe('a command that is killed during a download', () => {
  test('leaves a part, with which the next one resumes', async () => {
    const server = await startFaultServer([
      { times: 1, answer: halfThenPause },
      { times: 1, answer: (request) => cutAfter(JUNK, request, VOICE_BYTES) },
      { answer: answer(200, {}, JUNK) },
    ]);
    const sandbox = await createSandbox();
    const killed = await startFoley(add(server.origin), { sandbox });
    await untilHalf(sandbox);
    killed.signal('SIGKILL');
    expect(await killed.done).toMatchObject({ signal: 'SIGKILL' });

    const error = errorLine(await runFoley(add(server.origin), { sandbox }));

    // The second response has the rest; the sum of both is wrong, and so is that of a fresh download.
    expect(error).toMatchObject({ exitCode: 25 });
    expect(server.requests.map((one) => [one.header('range'), one.header('if-range')])).toEqual([
      [undefined, undefined],
      [`bytes=${HALF}-`, TAG],
      [undefined, undefined],
    ]);
    expect(await readdir(voicesOf(sandbox))).toEqual([]);
  });

  test('does not keep a second one waiting', async () => {
    const server = await startFaultServer([
      { times: 1, answer: halfThenPause },
      { answer: answer(200, {}, JUNK) },
    ]);
    const sandbox = await createSandbox();
    const killed = await startFoley(add(server.origin), { sandbox });
    await untilHalf(sandbox);
    const second = await startFoley(add(server.origin), { sandbox });
    await second.waitFor('stderr', new RegExp(`waiting for process ${killed.pid}`));
    expect(server.requests).toHaveLength(1);
    killed.signal('SIGKILL');
    await killed.done;
    expect(errorLine(await second.done)).toMatchObject({ exitCode: 25 });
    expect(server.requests[1]?.header('range')).toBe(`bytes=${HALF}-`);
  });

  test('by Ctrl-C frees the lock, and keeps the part', async () => {
    const server = await startFaultServer([{ nth: 1, answer: halfThenPause }]);
    const sandbox = await createSandbox();
    const stopped = await startFoley(add(server.origin), { sandbox });
    await untilHalf(sandbox);
    stopped.signal('SIGINT');
    expect(await stopped.done).toMatchObject({
      signal: 'SIGINT',
      stderr: expect.stringContaining('stopped; run the command again to resume'),
    });
    const models = path.join(voicesOf(sandbox), '../..');
    expect(await readdir(models)).toEqual(['kokoro']);
    expect((await readdir(voicesOf(sandbox))).toSorted()).toEqual([
      'af_heart.bin.part',
      'af_heart.bin.part.version',
    ]);
  });
});

describe('a full disk', () => {
  test('is noticed before anything is requested', async () => {
    requireSmallDisk();
    const server = await startFaultServer([]);
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'small'));
    const line = `foley ${add(server.origin).join(' ')}`;
    const script = `mount -t tmpfs -o size=1m none small && XDG_DATA_HOME=$PWD/small ${line}`;
    const inside = `unshare --user --map-root-user --mount bash -c '${script}'`;
    const error = errorLine(await inShell(inside, { sandbox }));
    expect(error).toMatchObject({ exitCode: 30, code: 'output' });
    expect(error.message).toMatch(/the disk is full: .* free, and the voices need about 89 MiB/);
  });

  test('while bytes arrive ends with exit 30, and the next command resumes', async () => {
    const server = await startFaultServer([
      { answer: (request) => cutAfter(JUNK, request, VOICE_BYTES) },
    ]);
    const sandbox = await createSandbox();
    const line = `foley ${add(server.origin).join(' ')}`;
    const error = errorLine(await inShell(`ulimit -f 200; ${line}`, { sandbox }));
    expect(error).toMatchObject({ exitCode: 30, code: 'output' });
    expect(error.hint).toContain('XDG_DATA_HOME');
    const { size } = await stat(path.join(voicesOf(sandbox), 'af_heart.bin.part'));
    expect(size).toBeGreaterThan(0);
    expect(errorLine(await runFoley(add(server.origin), { sandbox }))).toMatchObject({
      exitCode: 25,
    });
    expect(server.requests[1]?.header('range')).toBe(`bytes=${size}-`);
  });
});

function requireSmallDisk(): void {
  try {
    const inside = ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'];
    execFileSync('unshare', inside, { stdio: 'ignore' });
  } catch {
    skipWithout('unshare with mounts');
  }
}
