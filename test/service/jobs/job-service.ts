import { expect, onTestFinished } from 'vitest';
import { EngineRegistry, EngineError } from '../../../src/service/engine/speech-engine.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import type { TestService } from '../support/test-service.ts';
import { jsonPost, testService, voiceId } from '../support/test-service.ts';
import { once } from 'node:events';
import { abortable } from '../../../src/system/concurrency.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { toneEngine } from '../support/tone-engine.ts';

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

/** An engine whose behaviour can be set for each word. */
export interface DirectedEngine extends SpeechEngine {
  /** Texts that it was asked for, in order. */
  readonly texts: readonly string[];
  /** From now on it breaks at texts with this word. */
  failAt(word: string): void;
  /** From now on texts with this word wait, until the function that it gives is called. */
  holdAt(word: string): () => void;
  /** How many texts wait. */
  readonly held: () => number;
}

export function directedEngine(): DirectedEngine {
  const engine = toneEngine();
  const texts: string[] = [];
  const failing = new Set<string>();
  const holding = new Map<string, Promise<unknown>>();
  let held = 0;
  return {
    ...engine,
    texts,
    failAt: (word) => void failing.add(word),
    held: () => held,
    holdAt(word) {
      const opened = new AbortController();
      holding.set(word, once(opened.signal, 'abort'));
      return () => {
        holding.delete(word);
        opened.abort();
      };
    },
    async *synthesize(request, signal) {
      texts.push(request.text);
      const released = [...holding].find(([word]) => request.text.includes(word))?.[1];
      if (released !== undefined) {
        held += 1;
        await abortable(released, signal).finally(() => {
          held -= 1;
        });
      }
      if ([...failing].some((word) => request.text.includes(word))) {
        throw new EngineError('failed', 'The engine broke.', 'The secret inside of it.');
      }
      yield* engine.synthesize(request, signal);
    },
  };
}
