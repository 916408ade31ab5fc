import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { systemFiles } from '../../../src/system/file-system.ts';
import { amountsIn } from '../../../src/service/ledger/ledger.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { type Bundle, buildBundle } from '../../service/support/bundle.ts';
import { temporaryFolder } from '../../service/support/test-service.ts';
import { JOBS, jobService } from '../../service/jobs/job-service.ts';
import { MORTAL_MS, mortalBody } from '../../service/jobs/mortal-jobs.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const JOB_COUNT = IS_FULL ? 20 : 3;
/** Effects that a process lives for, in turn: now one, now a dozen. */
const LIVES = IS_FULL ? [3, 9, 5, 14, 7, 4, 11, 6] : [5, 14, 9, 23];
const MOST_PROCESSES = 400;

let bundle: Bundle;

beforeAll(async () => {
  bundle = await buildBundle({ mortal: 'test/service/jobs/mortal-process.ts' });
});

afterAll(() => bundle.remove());

/** Gives what the process printed, and nothing when it was killed. */
function live(dataDir: string, life: number): Promise<string> {
  const program = join(bundle.folder, 'dist', 'mortal.cjs');
  const child = spawn(process.execPath, [program, dataDir, String(JOB_COUNT), String(life)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve) => {
    let text = '';
    child.stdout.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
    child.on('close', () => resolve(text));
  });
}

describe('jobs whose processes are killed one after the other', () => {
  it('are all finished, whole, and paid for once', async () => {
    const dataDir = await temporaryFolder();
    let processes = 0;
    for (let end = ''; end !== 'done' && processes < MOST_PROCESSES; processes += 1) {
      end = await live(dataDir, LIVES[processes % LIVES.length] ?? 1);
    }
    // Enough of them died for it to mean anything, and the last one did not.
    expect(processes).toBeGreaterThan(JOB_COUNT);
    expect(processes).toBeLessThan(MOST_PROCESSES);
    const store = await openStore({ dataDir, clock: systemClock, files: systemFiles });
    onTestFinished(() => store.close());
    verifyLedger(store, { full: true });
    const characters = Array.from({ length: JOB_COUNT }, (_, job) => mortalBody(job).text.length);
    const total = characters.reduce((sum, one) => sum + one, 0);
    expect(store.read((db) => amountsIn(db, 'first', 'spent'))).toEqual({
      credits: total,
      quota: total,
    });
    expect(store.read((db) => db.all('SELECT 1 FROM owner'))).toEqual([]);
    const { call, bytes } = await jobService({ store });
    const { items } = Object(await (await call(`${JOBS}?status=success`)).json());
    expect(items).toHaveLength(JOB_COUNT);
    for (const { taskId } of items) {
      const audio = await decodeAudio(await bytes(`${JOBS}/${taskId}/audio`));
      expect(audio.durationMs).toBe(MORTAL_MS);
      const files = await readdir(join(dataDir, 'audio', taskId));
      expect(files.sort()).toEqual(['audio.mp3', 'segment-0.pcm', 'segment-1.pcm']);
    }
  }, 600_000);
});
