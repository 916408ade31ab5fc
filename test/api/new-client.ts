import { onTestFinished } from 'vitest';
import type { ApiClient, ApiClientOptions } from '../../src/api/client.ts';
import { createApiClient } from '../../src/api/client.ts';
import type { ApiEvent, RequestSpec, ServiceAddress } from '../../src/api/request.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { ManualClock } from './manual-clock.ts';
import { manualClock } from './manual-clock.ts';

export const KEY = 'sk-canary-0123456789';

/** Creates a client for a test server, with a clock that does not advance. */
export interface TestClient {
  readonly client: ApiClient;
  readonly clock: ManualClock;
  readonly events: ApiEvent[];
}

export function newClient(
  baseUrl: string,
  options: Partial<Omit<ApiClientOptions, 'address' | 'clock'>> & {
    readonly address?: Partial<ServiceAddress>;
  } = {},
): TestClient {
  const clock = manualClock();
  const events: ApiEvent[] = [];
  let ids = 0;
  const { address, ...rest } = options;
  const client = createApiClient({
    clock,
    // Ids are `id-1`, `id-2`, ….
    random: {
      uuid: () => `id-${(ids += 1)}`,
      bytes: (length) => new Uint8Array(length),
      fraction: () => 0.5,
    },
    version: '1.2.3',
    limits: { maxRetries: 4 },
    observer: (event) => events.push(event),
    env: {},
    ...rest,
    address: {
      kind: 'hosted',
      baseUrl: new URL(baseUrl),
      realtimeUrl: new URL(baseUrl.replace(/^http/, 'ws')),
      apiKey: KEY,
      ...address,
    },
  });
  onTestFinished(() => client.close());
  return { client, clock, events };
}

/** A read of `/thing`. */
export const READ: RequestSpec = { method: 'GET', target: '/thing', billed: false, retry: 'safe' };

/** A billed write with a generated key. */
export const BILLED: RequestSpec = {
  method: 'POST',
  target: '/speak',
  body: { contentType: 'application/json', bytes: Buffer.from('{"text":"hi"}') },
  billed: true,
  retry: 'keyed',
  key: { value: 'key-1', madeByTool: true, sentAs: 'Idempotency-Key' },
};

/** Returns the Failure of a rejected promise; throws anything else. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const outcome: unknown = await promise.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );
  if (outcome instanceof Failure) return outcome;
  throw outcome instanceof Error ? outcome : new Error(String(outcome));
}
