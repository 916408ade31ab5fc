import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { firstVoiceId } from '../../binary/support/serve.ts';
import { expectSoundIn } from '../../binary/support/sound.ts';
import { batchSandbox, JOBS_PATH, lastLine } from '../../binary/batch/batch-sandbox.ts';

const FOUR = { 'lines.txt': 'One.\nTwo.\nThree.\nFour.\n' };
const LINES_AT_ONCE = ['--lines', 'lines.txt', '--output-dir', 'audio', '-j'];
const LINES = [...LINES_AT_ONCE, '1'];

describe('the failure of one item', () => {
  test('does not affect the others, and only --retry-failed requests it again', async () => {
    const { batch, sandbox, charged, events } = await batchSandbox(FOUR, [
      `POST ${JOBS_PATH}; job=fail; times=1`,
    ]);
    const { items, result, summary } = await events(LINES);
    expect(result.code).toBe(3);
    expect(errorLine(result)).toMatchObject({
      exitCode: 3,
      code: 'ERR_GENERATION_FAILED',
      message: 'an item of the batch failed',
    });
    expect(summary).toMatchObject({
      done: 3,
      failed: 1,
      skipped: 0,
      creditsUsed: 'Two.Three.Four.'.length,
    });
    const failed = items.filter(({ status }) => status === 'failed');
    expect(failed).toMatchObject([{ id: 'lines-1', output: null, error: { exitCode: 20 } }]);
    expect(await charged()).toBe('Two.Three.Four.'.length);
    const again = await batch(LINES);
    expect([again.code, lastLine(again)]).toEqual([3, '0 done, 1 failed, 3 skipped']);
    expect(again.stderr).toMatch(/lines-1: this item failed.*--retry-failed/);
    const retried = await batch([...LINES, '--retry-failed']);
    expect([retried.code, lastLine(retried)]).toEqual([0, '1 done, 0 failed, 3 skipped']);
    await expectSoundIn(sandbox, 'audio/lines-1.mp3');
    expect(await charged()).toBe('One.Two.Three.Four.'.length);
  });

  test('decides the exit code when nothing was delivered', async () => {
    const { events } = await batchSandbox({ 'a.txt': 'Alpha.' }, [`POST ${JOBS_PATH}; job=fail`]);
    const { result, summary } = await events(['a.txt']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, code: 'ERR_GENERATION_FAILED' });
    expect(summary).toMatchObject({ done: 0, failed: 1 });
  });

  test('saves a part that could be spoken, and buys all of it again only with the flag', async () => {
    const text = 'The first sentence is said. The second one is not.';
    const { batch, sandbox, charged, events } = await batchSandbox({ 'a.txt': text }, [
      `POST ${JOBS_PATH}; job=partial_fail; times=1`,
    ]);
    const { items, result } = await events(['a.txt']);
    expect(errorLine(result)).toMatchObject({ exitCode: 3, code: 'partial_fail' });
    expect(items).toMatchObject([
      { status: 'failed', output: 'a.mp3', error: { code: 'partial_fail' } },
    ]);
    const part = await expectSoundIn(sandbox, 'a.mp3');
    const paid = await charged();
    expect(paid).toBeGreaterThan(0);
    expect((await batch(['a.txt'])).code).toBe(3);
    expect(await charged()).toBe(paid);
    expect((await batch(['a.txt', '--retry-failed'])).code).toBe(0);
    expect((await expectSoundIn(sandbox, 'a.mp3')).durationMs).toBeGreaterThan(part.durationMs);
    expect(await charged()).toBe(paid + text.length);
  });

  test('a lost response, a failed poll and an interrupted download cost nothing', async () => {
    const faults = [
      `POST ${JOBS_PATH}; reset-after=0; every=2`,
      `GET ${JOBS_PATH}/*; status=500; every=3`,
      `GET ${JOBS_PATH}/*/audio; truncate=700; every=2`,
    ];
    const { batch, charged } = await batchSandbox(FOUR, faults);
    const result = await batch([...LINES_AT_ONCE, '4']);
    expect([result.code, lastLine(result)], result.stderr).toEqual([
      0,
      '4 done, 0 failed, 0 skipped',
    ]);
    expect(result.stderr.match(/^foley: .*; retrying$/gm)).toHaveLength(1);
    expect(await charged()).toBe('One.Two.Three.Four.'.length);
  });
});

describe('a failure that affects all items', () => {
  test.each([
    [401, 4],
    [402, 21],
    [403, 4],
  ])('%i stops the batch, and the same command continues later', async (status, exitCode) => {
    const { batch, charged, events } = await batchSandbox(FOUR, [
      `POST ${JOBS_PATH}; status=${status}; times=1`,
    ]);
    const { result, summary } = await events(LINES);
    expect(errorLine(result)).toMatchObject({ exitCode, status });
    expect(summary).toMatchObject({ done: 0, failed: 1, notTried: 3 });
    expect(await charged()).toBe(0);
    const again = await batch(LINES);
    expect([again.code, lastLine(again)]).toEqual([0, '4 done, 0 failed, 0 skipped']);
  });

  test('without credits delivered items stay, and the exit is 3', async () => {
    const { events } = await batchSandbox(FOUR, [], ['--credits', '9']);
    const { result, summary } = await events(LINES);
    expect(errorLine(result)).toMatchObject({ exitCode: 3, status: 402 });
    expect(summary).toMatchObject({ done: 2, failed: 1, notTried: 1, creditsUsed: 8 });
  });

  test('--max-credits stops a batch that costs more than its estimate', async () => {
    const { events } = await batchSandbox(FOUR);
    const { result, summary } = await events([
      ...LINES,
      '--max-credits',
      '9',
      '--credit-rate',
      '0.4',
    ]);
    expect(result.code).toBe(3);
    expect(result.stderr).toMatch(/--max-credits/);
    expect(summary).toMatchObject({ done: 2, failed: 0, notTried: 2, creditsUsed: 8 });
  });

  test('after a 429 all workers send fewer requests', async () => {
    const { batch, charged, service } = await batchSandbox({}, [], ['--rate-limit', '6/s']);
    await firstVoiceId(service);
    const lines = Array.from({ length: 8 }, (_, index) => `Item ${index + 1}.`);
    const result = await batch(['--lines', '-', '-j', '8'], { input: lines.join('\n') });
    expect([result.code, lastLine(result)], result.stderr).toEqual([
      0,
      '8 done, 0 failed, 0 skipped',
    ]);
    expect(await charged()).toBe(lines.join('').length);
  });
});

test('--report has a record of every item that was tried', async () => {
  const { batch, read } = await batchSandbox(FOUR, [`POST ${JOBS_PATH}; job=fail; times=1`]);
  await batch([...LINES, '--report', 'report.json']);
  const report: unknown = JSON.parse((await read('report.json')).toString());
  expect(report).toMatchObject({
    version: 1,
    outputDir: 'audio',
    summary: { done: 3, failed: 1, skipped: 0, creditsUsed: 15, complete: true },
    items: [
      { id: 'lines-1', status: 'failed', output: null, error: { exitCode: 20 } },
      { id: 'lines-2', status: 'done', output: 'lines-2.mp3', creditsUsed: 4, error: null },
      { id: 'lines-3', status: 'done' },
      { id: 'lines-4', status: 'done' },
    ],
  });
});

test('an unreachable service ends the batch before all items have failed', async () => {
  const { batch } = await batchSandbox({
    'lines.txt': Array.from({ length: 50 }, (_, n) => `Item ${n}.`).join('\n'),
  });
  const args = ['--lines', 'lines.txt', '-j', '2', '--max-retries', '0', '--json'];
  const result = await batch(args, { env: { FOLEY_BASE_URL: 'http://127.0.0.1:9' } });
  expect(errorLine(result)).toMatchObject({ exitCode: 24 });
  const summary: unknown = JSON.parse(String(lastLine(result)));
  expect(summary).toMatchObject({ done: 0, notTried: expect.any(Number) });
  expect(Object(summary).notTried).toBeGreaterThan(40);
});
