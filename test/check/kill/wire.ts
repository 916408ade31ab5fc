import { setTimeout as pause } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';
import type { MortalServe } from '../../binary/support/mortal-serve.ts';
import type { Order } from '../../binary/support/orders.ts';
import { VOICE_ID } from '../../binary/support/orders.ts';

/** A complete response. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly bytes: Buffer;
  readonly json: () => Readonly<Record<string, unknown>>;
}

/** A request. */
export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends one request. */
export type Wire = (sent: Sent, account: number) => Promise<WholeAnswer | 'broken'>;

/**
 * Sends requests to the running process of the service, with the keys of an account in turn. The result is `broken`
 * for a response that is missing or incomplete because the process was killed.
 * @throws Error for a broken response of a process that was not killed, and for a 5xx
 */
export function openWire(serve: MortalServe, keysOf: (account: number) => readonly string[]): Wire {
  // Shorter than the idle timeout of the service, so that only a kill breaks a connection.
  const dispatcher = new Agent({ keepAliveTimeout: 2_000, keepAliveMaxTimeout: 2_000 });
  onTestFinished(() => dispatcher.destroy());
  let turn = 0;
  return async ({ method, path, headers, body }, account) => {
    const incarnation = await serve.living();
    const keys = keysOf(account);
    turn += 1;
    try {
      const answer = await request(new URL(path, incarnation.baseUrl), {
        dispatcher,
        method,
        headers: { ...headers, Authorization: `Bearer ${keys[turn % keys.length]}` },
        ...(body === undefined ? {} : { body }),
      });
      serve.tick();
      const pieces: Buffer[] = [];
      for await (const piece of answer.body) {
        pieces.push(Buffer.from(piece));
        serve.tick();
      }
      const bytes = Buffer.concat(pieces);
      if (answer.statusCode >= 500)
        throw new Error(`${path} was answered with ${bytes.toString()}`);
      const json = (): Readonly<Record<string, unknown>> => Object(JSON.parse(bytes.toString()));
      return { status: answer.statusCode, headers: answer.headers, bytes, json };
    } catch (error) {
      if (!incarnation.isDead()) throw error;
      return 'broken';
    }
  };
}

/** Repeats a request, which must be safe to repeat, until a response arrives. */
export async function insist(wire: Wire, sent: Sent, account: number): Promise<WholeAnswer> {
  for (;;) {
    const answer = await wire(sent, account);
    if (answer !== 'broken' && !isInProgress(answer)) return answer;
    if (answer !== 'broken') await pause(POLL_MS);
  }
}

/** Interval of polls. */
const POLL_MS = 50;

/** Polls until a condition holds. */
export async function poll(
  wire: Wire,
  sent: Sent,
  account: number,
  isDone: (answer: WholeAnswer) => boolean,
): Promise<WholeAnswer> {
  for (;;) {
    const answer = await insist(wire, sent, account);
    if (isDone(answer)) return answer;
    await pause(POLL_MS);
  }
}

function isInProgress(answer: WholeAnswer): boolean {
  return answer.status === 409 && answer.json()['code'] === 'ERR_REQUEST_IN_PROGRESS';
}

export function get(path: string): Sent {
  return { method: 'GET', path, headers: {} };
}

/** Returns the request of an order. */
export function orderOnWire(order: Order, key: string | undefined): Sent {
  const { path, body, headers = {} } = SHAPES[order.surface](order);
  return {
    method: 'POST',
    path,
    headers: {
      'Content-Type': 'application/json',
      ...headers,
      ...(key === undefined ? {} : { [KEY_HEADERS[order.surface]]: key }),
    },
    body: JSON.stringify(body),
  };
}

const KEY_HEADERS: Readonly<Record<Order['surface'], string>> = {
  v3: 'Idempotency-Key',
  v2: 'X-Request-Id',
  v1: 'Idempotency-Key',
  cache: 'X-Request-Id',
  'compat-tts': 'Idempotency-Key',
  'compat-speech': 'Idempotency-Key',
  'job-v3': 'Idempotency-Key',
  'job-v1': 'X-Request-Id',
};

interface Shape {
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const speech = ({ text, format }: Order) => ({ text, format, voiceId: VOICE_ID });

const SHAPES: Readonly<Record<Order['surface'], (order: Order) => Shape>> = {
  v3: (order) => ({ path: '/api/open/v3/speech/tts', body: speech(order) }),
  v2: (order) => ({ path: '/api/open/v2/speech/tts', body: { ...speech(order), token: 'old' } }),
  v1: ({ text, format }) => ({
    path: '/api/open/v1/speech/tts',
    body: { text, format, reference_id: VOICE_ID },
  }),
  cache: (order) => ({ path: '/api/open/v1/speech/tts', body: { ...speech(order), cache: true } }),
  'compat-tts': ({ text, format }) => ({
    path: '/v1/tts',
    body: { text, format, reference_id: VOICE_ID },
  }),
  'compat-speech': ({ text, format }) => ({
    path: '/v1/audio/speech',
    body: {
      input: text,
      voice: VOICE_ID,
      model: 'vendor-s21pro',
      response_format: format === 'ogg' ? 'pcm' : format,
    },
  }),
  'job-v3': (order) => ({ path: '/api/open/v3/speech/tts/jobs', body: speech(order) }),
  'job-v1': (order) => ({ path: '/api/open/v1/speech/tts/jobs', body: speech(order) }),
};
