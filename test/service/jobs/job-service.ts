import { expect, onTestFinished } from 'vitest';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import type { TestService } from '../support/test-service.ts';
import { jsonPost, testService, voiceId } from '../support/test-service.ts';
import type { DirectedEngine } from './directed-engine.ts';
import { directedEngine } from './directed-engine.ts';

export const JOBS = '/api/open/v3/speech/tts/jobs';
export const JOBS_V1 = '/api/open/v1/speech/tts/jobs';
export const GRANT = 1_000_000;

/** One credit a character, and samples that can be counted. */
export const BODY = {
  text: 'Hello. Again.',
  voiceId: voiceId('Clara'),
  modelId: 'vendor-s21pro',
  format: 'wav',
};

/** A text of one segment for each word: paragraphs that are long enough to be segments. */
export function paragraphs(...words: readonly string[]): string {
  return words.map((word) => `${`${word} is said. `.repeat(40).trim()}\n\n`).join('');
}

export interface JobService extends TestService {
  readonly directed: DirectedEngine;
  /** Creates a job of v3 and gives its id. */
  create(change?: object, headers?: Record<string, string>): Promise<string>;
  /** A job in the form of v3. */
  task(id: string, headers?: Record<string, string>): Promise<Task>;
  /** The same once it has ended. */
  ended(id: string): Promise<Task>;
  bytes(path: string): Promise<Buffer>;
}

export interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly creditsUsed: number;
  readonly audioUrl: string | null;
  readonly durationMs: number | null;
  readonly finishedAt: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly segments: readonly {
    readonly status: string;
    readonly characters: number;
    readonly durationMs: number | null;
    readonly audioUrl: string | null;
  }[];
}

/** A whole service with a scripted engine. */
export async function jobService(overrides: Partial<ServiceDeps> = {}): Promise<JobService> {
  const directed = directedEngine();
  const service = await testService({ engines: new EngineRegistry([directed]), ...overrides });
  // What still runs writes files, and its folder is removed next.
  onTestFinished(() => service.service.close(AbortSignal.abort()));
  const { call } = service;
  const task = async (id: string, headers: Record<string, string> = {}): Promise<Task> =>
    Object(await (await call(`${JOBS}/${id}`, { headers })).json()).task;
  return {
    ...service,
    directed,
    task,
    async create(change = {}, headers = {}) {
      const response = await call(JOBS, jsonPost({ ...BODY, ...change }, headers));
      expect(response.status).toBe(202);
      return String(Object(await response.json()).task.taskId);
    },
    async ended(id) {
      const isRunning = async () => ['pending', 'processing'].includes((await task(id)).status);
      await expect.poll(isRunning, { interval: 10 }).toBe(false);
      return task(id);
    },
    async bytes(path) {
      const response = await call(path);
      expect([path, response.status]).toEqual([path, 200]);
      return Buffer.from(await response.arrayBuffer());
    },
  };
}
