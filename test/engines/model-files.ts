import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createApiClient } from '../../src/api/client.ts';
import type { Clock } from '../../src/system/clock.ts';
import { systemClock } from '../../src/system/clock.ts';
import type { ModelDeps, ModelFile } from '../../src/engines/download-models.ts';
import type { RecordedRequest } from '../fault-server/recorded-request.ts';
import { answer, head } from '../fault-server/http-text.ts';
import type { Step } from '../fault-server/steps.ts';
import { fin, reset, write } from '../fault-server/steps.ts';
import { countingRandom, testSystem } from '../files/file-simulation.ts';

/** Bytes without a pattern, the same in every run. */
export function contentOf(name: string, bytes: number): Buffer {
  const parts = Array.from({ length: Math.ceil(bytes / 32) }, (_, index) =>
    createHash('sha256').update(`${name} ${index}`).digest(),
  );
  return Buffer.concat(parts).subarray(0, bytes);
}

/** The entry of a list for a file with this content. */
export function listed(
  file: string,
  content: Uint8Array,
  origin = 'http://127.0.0.1:1',
): ModelFile {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path: file, bytes: content.length, url: `${origin}/${file}`, sha256 };
}

/** A clock that does not wait, except for timeouts. */
const IMPATIENT: Clock = { ...systemClock, sleep: async (_, signal) => signal?.throwIfAborted() };

export interface ModelSimulation extends ModelDeps {
  /** What was reported as stored, in order. */
  readonly progress: number[];
}

/** A folder for models, which is deleted with the test. */
export async function modelSimulation(changes: Partial<ModelDeps> = {}): Promise<ModelSimulation> {
  const root = await mkdtemp(path.join(tmpdir(), 'foley models '));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const nowhere = new URL('https://nowhere.invalid');
  const address = { baseUrl: nowhere, realtimeUrl: nowhere, apiKey: undefined };
  const client = createApiClient({
    address: { kind: 'hosted', ...address },
    clock: IMPATIENT,
    random: countingRandom(),
    version: '0',
    env: {},
    limits: { maxRetries: 4, idleTimeoutMs: 200, responseTimeoutMs: 2_000 },
  });
  onTestFinished(() => client.close());
  const progress: number[] = [];
  return {
    system: testSystem({ clock: IMPATIENT }),
    modelsFolder: path.join(root, 'models'),
    source: { kind: 'servers' },
    signal: new AbortController().signal,
    client: async () => client,
    progress,
    onProgress: (bytes) => void progress.push(bytes),
    ...changes,
  };
}

/** The names of all files in the folder of the models. */
export async function filesIn({
  modelsFolder,
}: Pick<ModelDeps, 'modelsFolder'>): Promise<string[]> {
  const found = await readdir(modelsFolder, { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map(({ name }) => name);
}

export const TAG = '"version-1"';

/** The answer of an honest server to a request with or without a range. */
export function served(content: Buffer, request: RecordedRequest, tag = TAG): Step[] {
  const [from, body] = requested(content, request, tag);
  if (from === undefined) return answer(200, { ETag: tag }, body);
  if (body.length === 0) return answer(416, { 'Content-Range': `bytes */${content.length}` });
  return answer(206, { ETag: tag, 'Content-Range': range(from, content.length) }, body);
}

/** The same answer, cut off after so many bytes of the body. */
export function cutAfter(
  content: Buffer,
  request: RecordedRequest,
  bytes: number,
  how: 'fin' | 'reset' = 'fin',
): Step[] {
  const [from, body] = requested(content, request, TAG);
  const headers = { ETag: TAG, 'Content-Length': String(body.length) };
  const first =
    from === undefined
      ? head(200, headers)
      : head(206, { ...headers, 'Content-Range': range(from, content.length) });
  return [first, write(body.subarray(0, bytes)), how === 'fin' ? fin() : reset()];
}

function requested(
  content: Buffer,
  request: RecordedRequest,
  tag: string,
): readonly [from: number | undefined, body: Buffer] {
  const [, from] = /^bytes=(\d+)-$/.exec(request.header('range') ?? '') ?? [];
  const condition = request.header('if-range');
  if (from === undefined || (condition !== undefined && condition !== tag)) {
    return [undefined, content];
  }
  return [Number(from), content.subarray(Number(from))];
}

function range(from: number, size: number): string {
  return `bytes ${from}-${size - 1}/${size}`;
}
