import { withTrueLengths } from '../binary/support/sound.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import type { Version } from '../realtime/messages.ts';
import { connectRealtime, refusedHandshake } from '../realtime/raw-client.ts';
import type { Answer, AskOptions, LiveOptions, ServiceUnderTest } from './service-under-test.ts';

/** Where a service is, and who asks it. */
export interface ServiceAddress {
  readonly baseUrl: string;
  readonly key: string;
  readonly otherKey?: string | undefined;
  readonly isOurs: boolean;
}

/** How long a service may take for an answer: it is not to hang. */
const TIMEOUT_MS = 60_000;

/** A service that is asked over HTTP. */
export function openService({ baseUrl, key, otherKey, isOurs }: ServiceAddress): ServiceUnderTest {
  const found = new Map<string, Promise<unknown>>();
  const liveOptions = (version: Version, options: LiveOptions) => {
    const { key: other = key, ...rest } = options;
    const isPage = 'key' in options && options.key === undefined;
    return { version, baseUrl, ...rest, ...(isPage ? {} : { key: other }) };
  };
  return {
    isOurs,
    otherKey,
    connect: (version, options = {}) => connectRealtime(liveOptions(version, options)),
    refused: (version, options = {}) => refusedHandshake(liveOptions(version, options)),
    async ask(endpoint, options = {}) {
      const [method = 'GET', path = '/'] = endpoint.split(' ');
      const url = new URL(path, baseUrl);
      for (const [name, value] of Object.entries(options.query ?? {})) {
        url.searchParams.set(name, String(value));
      }
      return answerOf(await fetch(url, { method, ...requestOf(options, key) }), options);
    },
    async listen(bytes) {
      const isWav = Buffer.from(bytes.subarray(0, 4)).toString() === 'RIFF';
      return (await decodeAudio(isWav ? withTrueLengths(bytes) : bytes)).durationMs;
    },
    async once<Found>(name: string, find: () => Promise<Found>): Promise<Found> {
      const known = found.get(name);
      if (known !== undefined) return (await known) as Found;
      const finding = find();
      found.set(name, finding);
      return finding;
    },
  };
}

function requestOf({ headers = {}, body, bytes }: AskOptions, key: string): RequestInit {
  const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
  const all = {
    Authorization: `Bearer ${key}`,
    ...(content === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...headers,
  };
  const given = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    headers: Object.fromEntries(given),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(content === undefined
      ? {}
      : { body: typeof content === 'string' ? content : content.slice() }),
  };
}

async function answerOf(
  response: Response,
  { firstBytesOnly = false }: AskOptions,
): Promise<Answer> {
  const parts: Uint8Array[] = [];
  for await (const part of response.body ?? []) {
    parts.push(part);
    if (firstBytesOnly) break;
  }
  const bytes = Buffer.concat(parts);
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    bytes,
    json: () => JSON.parse(bytes.toString()),
  };
}
