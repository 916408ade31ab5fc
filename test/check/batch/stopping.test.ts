import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import { firstVoiceId } from '../../binary/support/serve.ts';
import type { BatchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { batchSandbox, JOBS_PATH, lastLine } from '../../binary/batch/batch-sandbox.ts';

const LINES = Array.from({ length: 8 }, (_, index) => `Item ${index + 1} speaks.`);
const ARGS = ['--lines', 'lines.txt', '--output-dir', 'audio', '-j', '2'];
const CREDITS = LINES.join('').length;

/** Delays every response, so that a batch can be stopped between requests. */
function slowBox(): Promise<BatchSandbox> {
  return batchSandbox({ 'lines.txt': LINES.join('\n') }, [`* ${JOBS_PATH}/**; delay=60ms`]);
}

describe('a batch that is stopped', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s downloads billed audio, names the command to continue, and continues',
    async (signal) => {
      const { batch, sandbox, charged, events } = await slowBox();
      const stopped = await batch([...ARGS, '--verbose'], {
        signalAt: { signal, when: /GET \S+\/audio 200/ },
      });
      expect(stopped).toMatchObject({ code: null, signal });
      expect(stopped.stderr).toMatch(
        /stopped; \d+ done, 0 failed, 0 skipped, \d+ not tried, \d+ credits? used\. Run the same command again/,
      );
      const paid = await charged();
      expect(paid).toBeLessThan(CREDITS);
      const there = (await readdir(path.join(sandbox.out, 'audio'))).filter((name) =>
        name.endsWith('.mp3'),
      );
      const recovered = await runFoley(['recover'], { sandbox, env: { FOLEY_TARGET: 'local' } });
      expect(recovered.stderr).toMatch(/the batch in \S.*audio is unfinished; run its command/);
      // All billed audio is there.
      const ofThem = there.map((name) => LINES[Number(/(\d+)\.mp3$/.exec(name)?.[1]) - 1] ?? '');
      expect(ofThem.join('').length).toBe(paid);
      const { result, summary } = await events(ARGS);
      expect(result.code, result.stderr).toBe(0);
      expect(summary).toMatchObject({ skipped: there.length, done: LINES.length - there.length });
      expect(await charged()).toBe(CREDITS);
      expect((await runFoley(['recover'], { sandbox })).stderr).toBe('');
    },
  );

  test('by a second signal at once continues without billing twice', async () => {
    const { batch, sandbox, charged, service } = await batchSandbox(
      { 'lines.txt': LINES.join('\n') },
      [`GET ${JOBS_PATH}/*/audio; delay=4s; times=2`],
    );
    const running = await startFoley(
      ['batch', '-v', await firstVoiceId(service), '-m', 'vendor-s21pro', ...ARGS, '--verbose'],
      { sandbox, env: service.env },
    );
    await running.waitFor('stderr', /GET \S+\/jobs\/\S+ 200/);
    running.signal('SIGINT');
    await running.waitFor('stderr', /stopping; running items still finish/);
    running.signal('SIGINT');
    const { signal, stderr } = await running.done;
    expect(signal).toBe('SIGINT');
    expect(stderr).not.toMatch(/internal|\.cjs:/);
    const result = await batch(ARGS);
    expect([result.code, lastLine(result)], result.stderr).toEqual([
      0,
      '8 done, 0 failed, 0 skipped',
    ]);
    expect(await charged()).toBe(CREDITS);
  });

  test('by a reader that closes the pipe ends quietly, and continues', async () => {
    const { batch, sandbox, charged, service } = await slowBox();
    const running = await startFoley(
      ['batch', '-v', await firstVoiceId(service), '-m', 'vendor-s21pro', ...ARGS, '--json'],
      { sandbox, env: service.env },
    );
    await running.waitFor('stdout', /"event":"item"/);
    running.closeOutput('stdout');
    expect(await running.done).toMatchObject({ code: 0, stderr: '' });
    expect((await batch(ARGS)).code).toBe(0);
    expect(await charged()).toBe(CREDITS);
  });
});

describe('two batches in one folder', () => {
  test('the second is exit 32 and names the first; different shards run at once', async () => {
    const { batch, sandbox, charged, service } = await slowBox();
    const voiceId = await firstVoiceId(service);
    const first = await startFoley(
      ['batch', '-v', voiceId, '-m', 'vendor-s21pro', ...ARGS, '--verbose', '--shard', '1/2'],
      { sandbox, env: service.env },
    );
    await first.waitFor('stderr', /POST \S+ 202/);
    const second = await batch([...ARGS, '--json']);
    expect(errorLine(second)).toMatchObject({
      exitCode: 32,
      details: { pid: first.pid },
      billed: 'no',
    });
    expect(errorLine(await batch([...ARGS, '--json', '--shard', '1/2']))).toMatchObject({
      exitCode: 32,
    });
    const other = await batch([...ARGS, '--shard', '2/2']);
    expect([other.code, lastLine(other)], other.stderr).toEqual([
      0,
      '4 done, 0 failed, 0 skipped, 4 in other shards',
    ]);
    expect((await first.done).code).toBe(0);
    expect(await charged()).toBe(CREDITS);
    expect(lastLine(await batch(ARGS))).toBe('0 done, 0 failed, 8 skipped');
  });

  test('a journal of a newer foley is exit 32 and stays unchanged; damaged lines are skipped', async () => {
    const { batch, sandbox, charged } = await batchSandbox({ 'lines.txt': LINES.join('\n') });
    await batch(ARGS);
    const folder = path.join(sandbox.out, 'audio', '.foley', 'journal');
    const [name = ''] = await readdir(folder);
    await writeFile(path.join(folder, name), 'v1 00000000 {"torn\nnot a line', { flag: 'a' });
    const damaged = await batch(ARGS);
    expect([damaged.code, lastLine(damaged)]).toEqual([0, '0 done, 0 failed, 8 skipped']);
    expect(damaged.stderr).toMatch(/2 damaged lines/);
    const newer = { version: 9, record: '{"what":"is this"}' };
    const sum = crc32(`v${newer.version} ${newer.record}`).toString(16).padStart(8, '0');
    await writeFile(
      path.join(folder, '29990101T000000Z-1-aa.jsonl'),
      `\nv9 ${sum} ${newer.record}\n`,
    );
    const result = await batch([...ARGS, '--json']);
    expect(errorLine(result)).toMatchObject({
      exitCode: 32,
      message: expect.stringMatching(/newer foley/),
    });
    expect(await charged()).toBe(CREDITS);
  });
});
