import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { LISTENER, slotSentence, slotWords, spokenWords } from '../../harness/spoken-words.ts';
import { type Bundle, buildBundle } from '../support/bundle.ts';
import { temporaryFolder } from '../support/test-service.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

const CHOICES = [2, 0, 3, 1, 0, 2, 1, 3];

let bundle: Bundle;

beforeAll(async () => {
  bundle = await buildBundle({
    leaving: 'test/service/jobs/leaving-process.ts',
    'hibari-worker': 'src/service/engine/hibari/hibari-worker.ts',
  });
});

afterAll(() => bundle.remove());

/** What a process prints that ends by itself. */
async function run(...args: readonly string[]): Promise<Record<string, unknown>> {
  const program = join(bundle.folder, 'dist', 'leaving.cjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args]);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('a job that a process leaves behind', () => {
  it('is finished before the process ends, by the real engine, and is there for the next', async () => {
    const dataDir = join(await temporaryFolder(), 'data');
    const sentence = slotSentence(CHOICES);
    // A second segment without a word, so that the whole is made of several.
    const text = `${sentence}\n\n${'— '.repeat(499)}\n\n`;
    const left = await run('leave', dataDir, text);
    expect(left).toMatchObject({ status: 'pending', told: ['request', 'finishing-jobs'] });
    const file = join(dataDir, '..', 'whole.mp3');
    const found = await run('fetch', dataDir, String(left['taskId']), file);
    expect(found).toMatchObject({ status: 'success', isRedirected: true });
    expect(found['told']).not.toContain('failure');
    const bytes = await readFile(file);
    expect(verifyBytes('mp3', bytes)).toMatchObject({ complete: true, endIsProven: true });
    requireTool(LISTENER);
    const { channels, sampleRate } = await decodeAudio(bytes);
    const spoken = { samples: channels[0] ?? new Float32Array(0), sampleRate };
    expect(await spokenWords(spoken)).toEqual({ words: slotWords(CHOICES) });
    const files = await readdir(join(dataDir, 'audio', String(left['taskId'])));
    expect(files.sort()).toEqual(['audio.mp3', 'segment-0.pcm']);
  });
});
