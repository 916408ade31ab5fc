import { expect } from 'vitest';
import { Agent, request } from 'undici';
import { VOICES_PATH } from '../../fault-server/healthy-service.ts';
import { startFoley } from '../../harness/run-foley.ts';
import type { Running, RunOptions } from '../../harness/run-options.ts';
import { IS_SPARSE } from '../../sparse-service/mode.ts';
import { startSparseProxy } from '../../sparse-service/sparse-proxy.ts';

/** A `foley serve` that answers. */
export interface ServingFoley {
  readonly running: Running;
  readonly baseUrl: string;
  /** Empty with a keys file: keys of a file are never printed. */
  readonly apiKey: string;
  /** Makes a command talk to it. */
  readonly env: Readonly<Record<string, string>>;
  /** Asks with its key; further headers win. */
  ask(path: string, options?: AskOptions): Promise<ServiceAnswer>;
}

interface AskOptions {
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

interface ServiceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

// Without a dispatcher of its own, undici sends with the copy inside Node.js if a test has called `fetch` before. In Node.js
// 20, this copy takes a body that is cut off as whole (findings/undici-takes-a-body-that-was-cut-off-as-whole.sh).
const AGENT = new Agent();

/** Starts `foley serve` on a free port and waits until it says that it is ready. */
export async function startServe(
  flags: readonly string[] = [],
  options: RunOptions = {},
): Promise<ServingFoley> {
  const running = await startFoley(['serve', '--port', '0', '--json', ...flags], options);
  const [line] = await running.waitFor('stdout', /^.*\n/);
  const ready: unknown = JSON.parse(line);
  expect(ready).toStrictEqual({
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    realtimeUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/),
    apiKey: flags.includes('--accept-keys-file') ? null : expect.stringMatching(/^\S{20,}$/),
  });
  const { baseUrl } = Object(ready);
  const apiKey = String(Object(ready).apiKey ?? '');
  const address = IS_SPARSE ? await startSparseProxy(baseUrl) : baseUrl;
  return {
    running,
    baseUrl,
    apiKey,
    env: { FOLEY_BASE_URL: address, FOLEY_API_KEY: apiKey },
    ask: async (path, { method = 'GET', headers = {}, body } = {}) => {
      const {
        statusCode,
        headers: received,
        body: stream,
      } = await request(baseUrl + path, {
        method,
        dispatcher: AGENT,
        // A connection that is kept between two commands may be closed while it is used again.
        reset: true,
        headers: {
          Authorization: `Bearer ${apiKey}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const bytes = Buffer.from(await stream.arrayBuffer());
      return { status: statusCode, headers: received, bytes };
    },
  };
}

/** The id of the first voice that it lists. */
export async function firstVoiceId({ ask }: ServingFoley): Promise<string> {
  const { bytes } = await ask(VOICES_PATH);
  return String(Object(JSON.parse(bytes.toString())).items[0].voiceId);
}

/** The code in an error of the service. */
export function codeOf(bytes: Buffer): unknown {
  return Object(JSON.parse(bytes.toString())).code;
}
