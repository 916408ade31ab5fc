import assert from 'node:assert/strict';
import type { Mode, Version } from '../realtime/messages.ts';
import type { RawRealtimeClient } from '../realtime/raw-client.ts';
import type { Fields, Message } from '../realtime/wire-names.ts';
import { freshKey, pairOf } from './facts.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

export const VERSIONS = ['v2', 'v3'] as const satisfies readonly Version[];

/** Where a version of realtime speech is, as rows name it. */
export function liveOf(version: Version): string {
  return `GET /${version}/tts/live`;
}

/** A `start.request`, with the names of v3: the unified profile on v2. */
export async function requestFor(
  service: ServiceUnderTest,
  version: Version,
  more: Fields = {},
): Promise<Fields> {
  const { voiceId, modelId } = await pairOf(service, ({ id }) => id === 'vendor-s21pro-flash');
  const profile = version === 'v2' ? { parameterProfile: 'product_v1' } : {};
  return { ...profile, voiceId, modelId, ...more };
}

/** Connects and starts a request. */
export async function start(
  service: ServiceUnderTest,
  version: Version,
  mode: Mode,
  request: Fields = {},
) {
  const client = await service.connect(version);
  await client.expect('authenticated');
  const requestId = freshKey();
  const whole = await requestFor(service, version, request);
  client.send({ event: 'start', mode, requestId, request: whole });
  return { client, requestId, ready: await client.expect('ready', { requestId }) };
}

/** The next message, which must be this error. */
export async function claimError(
  client: RawRealtimeClient,
  code: string,
  { isTerminal, path }: { readonly isTerminal: boolean; readonly path?: string },
): Promise<Message> {
  const error = await client.expect('error', { code, terminal: isTerminal });
  if (path !== undefined) assert.equal(error['path'], path);
  return error;
}

/** The connection is closed with this code, and nothing more was said. */
export async function claimClosed(client: RawRealtimeClient, code: number): Promise<void> {
  const said = client.journal.length;
  const ending = await client.ended();
  assert.equal(ending.kind === 'closed' ? ending.code : ending.kind, code);
  assert.equal(client.journal.length, said);
}

/** A row for each version. */
export function perVersion<Row>(rowFor: (version: Version) => Row): readonly Row[] {
  return VERSIONS.map((version) => rowFor(version));
}
