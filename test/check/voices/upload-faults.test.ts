import { truncate } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { withPeak } from '../../harness/peak-memory.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import { OPEN } from '../../binary/support/fixture.ts';
import { putLargeWav, TEN_MEGABYTES } from '../../binary/voices/recordings.ts';
import { debrisIn, MADE } from '../../binary/voices/voice-fixture.ts';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { canaryKey } from '../../harness/canary.ts';
import { listen } from '../../harness/listen.ts';
import { Watch } from '../../harness/watch.ts';

const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';
const MEGABYTE = 1_000_000;
const TIME = { timeout: 120_000 };

/** A command that makes a voice of more than the buffers between it and a server hold. */
async function large(
  env: Readonly<Record<string, string>>,
  count?: number,
): Promise<{ sandbox: Sandbox; args: string[]; env: Readonly<Record<string, string>> }> {
  const sandbox = await createSandbox();
  const names = await putLargeWavs(sandbox, count);
  return { sandbox, args: ['voices', 'create', 'Ada', ...names], env };
}

async function good(upload: Upload): Promise<void> {
  await upload.readRest();
  upload.answer(200, MADE);
}

function reset({ socket }: Upload): void {
  socket.resetAndDestroy();
}

describe('an upload that is reset half way', () => {
  test('was not done: it is made again, and in the end it is exit 24', TIME, async () => {
    const server = await startUploadServer(MEGABYTE, reset);
    const { args, sandbox, env } = await large(server.env);
    const result = await runFoley([...args, '--max-retries', '2', '--json'], { sandbox, env });
    expect(errorLine(result)).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
    expect(errorLine(result).message).toContain('before the whole request was sent');
    expect(server.uploads).toHaveLength(3);
    expect(await debrisIn(sandbox)).toStrictEqual([]);
  });

  test('is read from the disk anew, and then comes whole', TIME, async () => {
    const server = await startUploadServer(MEGABYTE, (upload) =>
      upload.attempt === 1 ? reset(upload) : good(upload),
    );
    const { args, sandbox, env } = await large(server.env);
    const result = await runFoley(args, { sandbox, env });
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.toString()).toBe('v-new\n');
    const [first, second] = server.uploads;
    const length = Number(/content-length: (\d+)/i.exec(second?.head ?? '')?.[1]);
    expect(second?.received).toBe(length);
    expect(first?.received).toBeLessThan(length);
    expect(length).toBeGreaterThan(2 * TEN_MEGABYTES);
    expect(await debrisIn(sandbox)).toStrictEqual([]);
  });
});

describe('an upload that is reset when it is complete', () => {
  test(
    'may have been done: it is never repeated, exit 26, and recover lists it',
    TIME,
    async () => {
      const noVoices = { items: [], total: 0, page: 1, pageSize: 100, totalPages: 0 };
      const server = await startUploadServer(MEGABYTE, async (upload) => {
        if (upload.attempt > 1) return upload.answer(200, noVoices);
        await upload.readRest();
        return reset(upload);
      });
      const { args, sandbox, env } = await large(server.env);
      const result = await runFoley([...args, '--json'], { sandbox, env });
      expect(errorLine(result)).toMatchObject({
        exitCode: 26,
        billed: 'unknown',
        hint: expect.stringContaining('foley voices list --type personal'),
      });
      expect(server.uploads).toHaveLength(1);
      expect(await debrisIn(sandbox)).toStrictEqual([OPEN]);
      const told = await runFoley(['recover'], { sandbox, env });
      expect(told.code).toBe(26);
      expect(told.stdout.toString()).toContain('foley voices list --type personal');
      expect(await debrisIn(sandbox)).toStrictEqual([]);
    },
  );
});

describe('an answer before the body is finished', () => {
  const TOO_LARGE = { code: 'ERR_PAYLOAD_TOO_LARGE', message: 'too much', requestId: 'r' };

  test('is heeded at once when the rest is still taken', TIME, async () => {
    const server = await startUploadServer(MEGABYTE, (upload) => {
      upload.answer(413, TOO_LARGE);
      void upload.readRest();
    });
    const { args, sandbox, env } = await large(server.env);
    const result = await runFoley([...args, '--json'], { sandbox, env });
    expect(errorLine(result)).toMatchObject({ exitCode: 20, status: 413, billed: 'no' });
    expect(server.uploads).toHaveLength(1);
    expect(await debrisIn(sandbox)).toStrictEqual([]);
  });

  test('is heeded when the rest is never taken', TIME, async () => {
    const server = await startUploadServer(MEGABYTE, (upload) => upload.answer(413, TOO_LARGE));
    const { args, sandbox, env } = await large(server.env);
    const result = await runFoley([...args, '--json'], { sandbox, env });
    expect(errorLine(result)).toMatchObject({ exitCode: 20, status: 413, billed: 'no' });
    expect(server.uploads).toHaveLength(1);
  });

  test('may be lost when the connection is broken with it; nothing was made', TIME, async () => {
    const server = await startUploadServer(MEGABYTE, (upload) => {
      upload.answer(413, TOO_LARGE);
      upload.socket.destroySoon();
    });
    const { args, sandbox, env } = await large(server.env);
    const result = await runFoley([...args, '--json', '--max-retries', '1'], { sandbox, env });
    const error = errorLine(result);
    expect([20, 24]).toContain(error.exitCode);
    expect(error.billed).toBe('no');
    expect(await debrisIn(sandbox)).toStrictEqual([]);
  });

  test('a 401 is one too', TIME, async () => {
    const server = await startUploadServer(0, (upload) =>
      upload.answer(401, { ...TOO_LARGE, code: 'ERR_UNAUTHORIZED' }),
    );
    const { args, sandbox, env } = await large(server.env);
    const result = await runFoley([...args, '--json'], { sandbox, env });
    expect(errorLine(result)).toMatchObject({ exitCode: 4, code: 'ERR_UNAUTHORIZED' });
    expect(server.uploads).toHaveLength(1);
  });
});

describe('a service that takes its time', () => {
  test('slows the upload, which needs no more memory for it', TIME, async () => {
    const server = await startUploadServer(MEGABYTE);
    const { args, sandbox, env } = await large(server.env, isFull ? 10 : 6);
    const measured = await withPeak(sandbox);
    const running = await startFoley(args, { sandbox, env: { ...env, ...measured.env } });
    const upload = await server.reached();
    await good(upload);
    expect((await running.done).code).toBe(0);
    const most = await measured.peak();
    const small = await createSandbox();
    await putLargeWav(small, 'large-1.wav', 100_000);
    const least = await withPeak(small);
    const again = await startUploadServer(0, good);
    const args1 = ['voices', 'create', 'Ada', 'large-1.wav'];
    await runFoley(args1, { sandbox: small, env: { ...again.env, ...least.env } });
    // All together is never held; how much waits to be collected is the engine's own choice.
    expect(most - (await least.peak())).toBeLessThan(TEN_MEGABYTES * 4);
  });

  test('shows on a terminal how far it is', TIME, async () => {
    const server = await startUploadServer(MEGABYTE);
    const { args, sandbox, env } = await large(server.env);
    const running = await startInTerminal(args, { sandbox, env });
    await running.waitFor('stdout', /uploading +\S*\d*\S* +\d+(\.\d)?\/21 MB/);
    await good(await server.reached());
    const { code, stdout } = await running.done;
    expect(code, stdout.toString()).toBe(0);
    expect(stdout.toString()).toContain('v-new');
  });

  test('that takes nothing more is given up after --response-timeout: exit 24', TIME, async () => {
    const server = await startUploadServer(MEGABYTE);
    const { args, sandbox, env } = await large(server.env);
    const flags = ['--response-timeout', '300ms', '--max-retries', '0', '--json'];
    const result = await runFoley([...args, ...flags], { sandbox, env });
    expect(errorLine(result)).toMatchObject({ exitCode: 24, code: 'timeout', billed: 'no' });
    expect(errorLine(result).message).toContain('accepted no data of the request for 300 ms');
    expect(await debrisIn(sandbox)).toStrictEqual([]);
  });
});

describe('Ctrl-C', () => {
  test('while uploading ends at once, and nothing was made', TIME, async () => {
    const server = await startUploadServer(MEGABYTE);
    const { args, sandbox, env } = await large(server.env);
    const running = await startFoley(args, { sandbox, env });
    const upload = await server.reached();
    running.signal('SIGINT');
    const result = await running.done;
    expect(result).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(result.stderr).toBe(
      'foley: stopped before the upload was complete; no voice was created\n',
    );
    expect(await debrisIn(sandbox)).toStrictEqual([]);
    expect(upload.socket.destroyed || upload.received < TEN_MEGABYTES).toBe(true);
  });

  test('when all was sent says where to look', TIME, async () => {
    const server = await startUploadServer(MEGABYTE);
    const { args, sandbox, env } = await large(server.env);
    const running = await startFoley(args, { sandbox, env });
    await (await server.reached()).readRest();
    running.signal('SIGTERM');
    const result = await running.done;
    expect(result).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(result.stderr).toContain(
      'foley: stopped before the response. Check with `foley voices list --type personal`',
    );
    expect(result.stderr).toContain('`foley voices list --type personal`');
    expect(await debrisIn(sandbox)).toStrictEqual([OPEN]);
  });
});

test(
  'a recording that changes while it is sent is not sent as if it were whole',
  TIME,
  async () => {
    const server = await startUploadServer(MEGABYTE);
    const { args, sandbox, env } = await large(server.env);
    const running = await startFoley([...args, '--json'], { sandbox, env });
    const upload = await server.reached();
    await truncate(path.join(sandbox.out, 'large-2.wav'), 1_000);
    void upload.readRest();
    expect(errorLine(await running.done)).toMatchObject({ exitCode: 2, billed: 'no' });
    expect(running.stderr).toContain('a file of this request changed during its upload');
    expect(await debrisIn(sandbox)).toStrictEqual([]);
  },
);

/** Several of them, more together than the buffers between two programs hold. */
async function putLargeWavs(sandbox: Sandbox, count = 2): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `large-${index + 1}.wav`);
  for (const name of names) await putLargeWav(sandbox, name);
  return names;
}

/** One request whose body is read only as far as the test wants. */
interface Upload {
  /** From 1. */
  readonly attempt: number;
  readonly socket: Socket;
  readonly head: string;
  /** Bytes of the body that were read. */
  readonly received: number;
  /** Reads the rest; resolves when all of the body is there. */
  readRest(): Promise<void>;
  /** Writes an answer with a body of JSON. */
  answer(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
}

interface UploadServer {
  readonly env: Readonly<Record<string, string>>;
  /** Every request so far. */
  readonly uploads: readonly Upload[];
  /** Resolves with the nth request (from 1) when so much of its body was read as was to be. */
  reached(attempt?: number): Promise<Upload>;
}

/**
 * A server that reads `bytes` of the body of each request that has one and then lets `behave` go on, until the test
 * ends; nothing more is read before that asks for it.
 */
async function startUploadServer(
  bytes: number,
  behave: (upload: Upload) => unknown = () => undefined,
): Promise<UploadServer> {
  const uploads: Upload[] = [];
  const watch = new Watch();
  let attempts = 0;
  const server = createServer((socket) => {
    attempts += 1;
    const attempt = attempts;
    void (async () => {
      const upload = await readUpload(socket, bytes, attempt);
      uploads.push(upload);
      watch.changed();
      behave(upload);
    })();
  });
  return {
    env: { FOLEY_BASE_URL: await listen(server), FOLEY_API_KEY: canaryKey() },
    uploads,
    reached: (attempt = 1) => watch.until(() => uploads[attempt - 1]),
  };
}

/** Resolves when the head and so many bytes of the body are there; then nothing more is read. */
async function readUpload(socket: Socket, bytes: number, attempt: number): Promise<Upload> {
  let data = Buffer.alloc(0);
  let headEnd = -1;
  await new Promise<void>((resolve) => {
    const take = (chunk: Buffer): void => {
      data = Buffer.concat([data, chunk]);
      headEnd = data.indexOf('\r\n\r\n');
      const wanted = data.toString('latin1', 0, 4) === 'GET ' ? 0 : bytes;
      if (headEnd === -1 || data.length < headEnd + 4 + wanted) return;
      socket.off('data', take);
      socket.pause();
      resolve();
    };
    socket.on('data', take);
  });
  const head = data.subarray(0, headEnd).toString();
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
  let received = data.length - headEnd - 4;
  return {
    attempt,
    socket,
    head,
    get received() {
      return received;
    },
    async readRest() {
      await new Promise<void>((resolve) => {
        const count = (chunk: Buffer): void => {
          received += chunk.length;
          if (received >= length) resolve();
        };
        socket.on('data', count).resume();
        if (received >= length) resolve();
      });
    },
    answer(status, body, headers = {}) {
      const text = JSON.stringify(body);
      const lines = Object.entries({
        'Content-Type': 'application/json',
        'Content-Length': `${Buffer.byteLength(text)}`,
        ...headers,
      }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${text}`);
    },
  };
}
