import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { request } from 'undici';
import { expect } from 'vitest';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { listen } from '../../harness/listen.ts';
import type { RunOptions } from '../../harness/run-options.ts';
import type { ServingFoley } from './serve.ts';
import { startServe } from './serve.ts';

export const LIP_SYNC = '/api/open/v1/media/lip-sync/jobs';
export const DUBBING = '/api/open/v1/media/video-dubbing/jobs';
export const IMAGES = '/api/open/v1/media/images/jobs';
export const VIDEOS = '/api/open/v1/media/videos/jobs';

export type MediaPath = typeof LIP_SYNC | typeof DUBBING;

/** A checked-in file of ten seconds (test/fixtures/media/README.md). */
export function fixtureFile(name: string): Promise<Buffer> {
  return readFile(new URL(`../../fixtures/media/${name}`, import.meta.url));
}

/** What a server gives: a file as it is, or whatever it does. */
export type Given = Uint8Array | ((request: IncomingMessage, response: ServerResponse) => void);

/** Serves what tests want to be fetched, by its path and on this machine, until the test ends. */
export async function serveMedia(files: Readonly<Record<string, Given>>): Promise<string> {
  const server = createServer((asked, response) => {
    const given = files[(asked.url ?? '').slice(1)];
    if (given === undefined) response.writeHead(404).end();
    else if (typeof given === 'function') given(asked, response);
    else response.end(given);
  });
  return listen(server);
}

/** Fixtures by their names. */
export async function serveFixtures(...names: readonly string[]): Promise<string> {
  const files = await Promise.all(
    names.map(async (name) => [name, await fixtureFile(name)] as const),
  );
  return serveMedia(Object.fromEntries(files));
}

/** Sends a body, under a key of its own unless one is given. */
export async function post(
  { ask }: ServingFoley,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = { 'Idempotency-Key': randomUUID() },
) {
  const answer = await ask(path, { method: 'POST', body, headers });
  return { ...answer, body: Object(JSON.parse(answer.bytes.toString())) };
}

/** Creates a job that is accepted, and returns its data when it has ended. */
export async function done(
  service: ServingFoley,
  path: string,
  body: object,
  onPoll?: (data: { readonly progress: number }) => void,
) {
  const { status, body: answer } = await post(service, path, body);
  expect(status, JSON.stringify(answer)).toBe(202);
  return endOf(service, path, answer.data.id, onPoll);
}

/** Polls a job until it has ended, and returns its data then. */
export async function endOf(
  { ask }: ServingFoley,
  path: string,
  id: string,
  onPoll: (data: { readonly progress: number }) => void = () => {},
) {
  for (;;) {
    const { bytes, headers, status } = await ask(`${path}/${id}`);
    expect(status).toBe(200);
    const { data } = Object(JSON.parse(bytes.toString()));
    onPoll(data);
    if (data.status === 'completed' || data.status === 'failed') return data;
    expect(headers['retry-after']).toMatch(/^\d+$/);
    await setTimeout(50);
  }
}

/** Fetches the file at a signed address, without a key. */
export async function fetchResult(data: {
  readonly result_url: string;
}): Promise<{ readonly type: string; readonly bytes: Buffer }> {
  const { statusCode, headers, body } = await request(data.result_url);
  expect(statusCode).toBe(200);
  const bytes = Buffer.from(await body.arrayBuffer());
  return { type: String(headers['content-type']), bytes };
}

/** Returns the credits of the account. */
export async function creditsOf({ ask }: ServingFoley): Promise<number> {
  return JSON.parse((await ask(PROFILE_PATH)).bytes.toString()).credits;
}

/** All videos of the catalogue take long on a machine that does other things too. */
const PICTURES_TIMEOUT_MS = 1_800_000;

/** Starts a `foley serve` that has time for pictures. */
export function serveForPictures(
  flags: readonly string[] = [],
  options: RunOptions = {},
): Promise<ServingFoley> {
  return startServe(flags, { timeoutMs: PICTURES_TIMEOUT_MS, ...options });
}
