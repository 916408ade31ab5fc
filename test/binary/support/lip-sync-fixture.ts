import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import type { ServingFoley } from './serve.ts';

export const LIP_SYNC = '/api/open/v1/media/lip-sync/jobs';
export const DUBBING = '/api/open/v1/media/video-dubbing/jobs';

export type MediaPath = typeof LIP_SYNC | typeof DUBBING;

/** A checked-in file of ten seconds (test/fixtures/media/README.md). */
export function fixtureFile(name: string): Promise<Buffer> {
  return readFile(new URL(`../../fixtures/media/${name}`, import.meta.url));
}

/** What a server gives: a file as it is, or whatever it does. */
export type Given = Uint8Array | ((request: IncomingMessage, response: ServerResponse) => void);

/** Serves what tests want to be fetched, by its path and on this machine, until the test ends. */
export async function serveMedia(files: Readonly<Record<string, Given>>): Promise<string> {
  const server = createServer((request, response) => {
    const given = files[(request.url ?? '').slice(1)];
    if (given === undefined) response.writeHead(404).end();
    else if (typeof given === 'function') given(request, response);
    else response.end(given);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Fixtures by their names. */
export async function serveFixtures(...names: readonly string[]): Promise<string> {
  const files = await Promise.all(
    names.map(async (name) => [name, await fixtureFile(name)] as const),
  );
  return serveMedia(Object.fromEntries(files));
}

export interface MediaAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: ReturnType<typeof Object>;
}

/** Asks for something with a body. */
export async function post(
  { ask }: ServingFoley,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<MediaAnswer> {
  const answer = await ask(path, { method: 'POST', body, headers });
  return { ...answer, body: JSON.parse(answer.bytes.toString()) };
}

/** Asks for a lip sync or a dubbing that is accepted, and waits for its end. */
export async function done(service: ServingFoley, path: string, body: object) {
  const { status, body: answer } = await post(service, path, body);
  expect(status, JSON.stringify(answer)).toBe(202);
  return endOf(service, path, answer.data.id);
}

/** Polls a job until nothing more happens to it, and gives its data then. */
export async function endOf({ ask }: ServingFoley, path: string, id: string) {
  for (;;) {
    const { bytes, status } = await ask(`${path}/${id}`);
    expect(status).toBe(200);
    const { data } = Object(JSON.parse(bytes.toString()));
    if (data.status === 'completed' || data.status === 'failed') return data;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
