import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { expect } from 'vitest';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { startServe } from '../../binary/support/serve.ts';

export type PictureKind = 'images' | 'videos';

export interface PictureAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: ReturnType<typeof Object>;
}

/** All videos of the catalogue take long on a machine that does other things too. */
const PATIENCE_MS = 1_800_000;

/** A `foley serve` that has time for pictures, in folders of its own unless some are given. */
export async function serveForPictures(
  flags: readonly string[] = [],
  sandbox?: Sandbox,
): Promise<ServingFoley> {
  const given = sandbox === undefined ? {} : { sandbox };
  return startServe(flags, { timeoutMs: PATIENCE_MS, ...given });
}

/** Asks for a picture, under a key of its own unless one is given. */
export async function create(
  service: ServingFoley,
  kind: PictureKind,
  body: object,
  key: string = randomUUID(),
): Promise<PictureAnswer> {
  const path = `/api/open/v1/media/${kind}/jobs`;
  const headers = { 'Idempotency-Key': key };
  const answer = await service.ask(path, { method: 'POST', headers, body });
  return { ...answer, body: JSON.parse(answer.bytes.toString()) };
}

/** Asks for a picture that is accepted, and waits for its end. */
export async function made(
  service: ServingFoley,
  kind: PictureKind,
  body: object,
): Promise<Finished> {
  const { status, body: answer } = await create(service, kind, body);
  expect(status, JSON.stringify(answer)).toBe(202);
  return endOf(service, kind, answer.data.id);
}

export interface Finished {
  readonly data: ReturnType<typeof Object>;
  /** Every reported progress, in order. */
  readonly progress: readonly number[];
}

/** Polls a job as often as it says, until nothing more happens to it. */
export async function endOf(
  service: ServingFoley,
  kind: PictureKind,
  id: string,
): Promise<Finished> {
  const progress: number[] = [];
  for (;;) {
    const answer = await service.ask(`/api/open/v1/media/${kind}/jobs/${id}`);
    expect(answer.status).toBe(200);
    const { data } = JSON.parse(answer.bytes.toString());
    progress.push(data.progress);
    if (data.status === 'completed' || data.status === 'failed') return { data, progress };
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}

/** What a signed address gives, without a key. */
export async function fetchResult(data: {
  readonly result_url: string;
}): Promise<{ readonly type: string; readonly bytes: Buffer }> {
  const { statusCode, headers, body } = await request(data.result_url);
  expect(statusCode).toBe(200);
  const bytes = Buffer.from(await body.arrayBuffer());
  return { type: String(headers['content-type']), bytes };
}

export async function creditsOf(service: ServingFoley): Promise<number> {
  const { bytes } = await service.ask(PROFILE_PATH);
  return JSON.parse(bytes.toString()).credits;
}
