import { connect } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MultipartBody } from '../../harness/multipart-body.ts';
import { multipartBody } from '../../harness/multipart-body.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { writeWav } from '../../harness/wav.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { startServe } from '../../binary/support/serve.ts';
import { CREATE, stateOf } from './service-state.ts';

const TEN_MEGABYTES = 10_485_760;
/** So many that what would be kept of them is far more than what a collector leaves for later this time or that. */
const AT_ONCE = 24;
const TIME = { timeout: 240_000 };

const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';

/**
 * Ten megabytes to the byte: a voice and silence behind it, or nothing that is sound, of which no voice is
 * made, as that takes longer than everything else.
 */
function largeFile(): Buffer {
  if (!isFull) return Buffer.alloc(TEN_MEGABYTES);
  const samples = new Float32Array((TEN_MEGABYTES - 44) / 2);
  samples.set(referenceVoice({ medianHz: 130, seconds: 2 }).samples);
  return writeWav(samples, 16_000);
}

const EXPECTED = isFull ? 200 : 400;

const large = { fileName: 'large.wav', value: largeFile() };
const form = multipartBody([
  { name: 'name', value: 'Large' },
  { ...large, name: 'audioFiles' },
]);
/** As many bytes in an unknown field: they are read and dropped, however files are handled. */
const passedOver = multipartBody([{ ...large, name: 'others' }]);

async function upload({ baseUrl, apiKey }: ServingFoley, body = form): Promise<number> {
  const headers = { Authorization: `Bearer ${apiKey}`, ...body.headers };
  const response = await fetch(baseUrl + CREATE, { method: 'POST', headers, body: body.bytes });
  await response.arrayBuffer();
  return response.status;
}

/** Sends as many as that at once; gives their answers. */
function uploadAll(service: ServingFoley, body: MultipartBody): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, () => upload(service, body)));
}

/** Sends the form as far as that, and breaks the connection once the service has read of it. */
async function cut({ baseUrl, apiKey }: ServingFoley, bytes: number): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const head = [
    `POST ${CREATE} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${apiKey}`,
    `Content-Type: ${form.headers['Content-Type']}`,
    `Content-Length: ${form.bytes.length}`,
  ];
  const sent = Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    form.bytes.subarray(0, bytes),
  ]);
  await new Promise((resolve) => {
    socket.write(sent, resolve);
  });
  socket.resetAndDestroy();
  await once(socket, 'close');
}

describe('uploads of 10 MB', () => {
  test(
    `are not kept in memory: ${AT_ONCE} at once take less than half of their size`,
    TIME,
    async () => {
      const sandbox = await createSandbox();
      const service = await startServe(['--data-dir', path.join(sandbox.out, 'data')], {
        sandbox,
        timeoutMs: TIME.timeout,
      });
      // As much garbage as files make, so that both peaks have what is collected late.
      const skipped = await uploadAll(service, passedOver);
      expect(skipped).toEqual(skipped.map(() => 400));
      const before = service.running.peakMemoryBytes();
      const statuses = await uploadAll(service, form);
      expect(statuses).toEqual(statuses.map(() => EXPECTED));
      const after = service.running.peakMemoryBytes();
      expect(after - before).toBeLessThan(AT_ONCE * TEN_MEGABYTES * 0.5);
    },
  );

  test('that are cut on their way leave nothing behind', TIME, async () => {
    const sandbox = await createSandbox();
    const dataDir = path.join(sandbox.out, 'data');
    const service = await startServe(['--data-dir', dataDir], { sandbox, timeoutMs: TIME.timeout });
    const before = await stateOf(service, dataDir);
    for (const bytes of [0, 60, 300, 65_536, 5_000_000, form.bytes.length - 1]) {
      await cut(service, bytes);
    }
    await expect
      .poll(() => stateOf(service, dataDir), { timeout: 60_000 })
      .toEqual({ ...before, voices: 0, uploads: [], open: [] });
    expect(await upload(service)).toBe(EXPECTED);
  });
});
