import { connect } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { multipartBody } from '../../harness/multipart-body.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';
import { sandbox } from '../../harness/sandbox.ts';
import { writeWav } from '../../harness/wav.ts';
import type { ServingFoley } from '../support/serve.ts';
import { startServe } from '../support/serve.ts';
import { CREATE, peakOf, stateOf } from './service-state.ts';

const TEN_MEGABYTES = 10_485_760;
const BEFORE = 8;
/** So many that what would be kept of them is far more than the garbage that a collector leaves for later. */
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

const form = multipartBody([
  { name: 'name', value: 'Large' },
  { name: 'audioFiles', fileName: 'large.wav', value: largeFile() },
]);

async function upload({ baseUrl, apiKey }: ServingFoley): Promise<number> {
  const headers = { Authorization: `Bearer ${apiKey}`, ...form.headers };
  const response = await fetch(baseUrl + CREATE, { method: 'POST', headers, body: form.bytes });
  await response.arrayBuffer();
  return response.status;
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
    `are not kept in memory: ${AT_ONCE} at once take less than half of what they are`,
    TIME,
    async () => {
      const box = await sandbox();
      const service = await startServe(['--data-dir', path.join(box.out, 'data')], {
        box,
        timeoutMs: TIME.timeout,
      });
      // So that both peaks have what a process takes once, and some of what is collected late.
      for (let turn = 0; turn < BEFORE; turn += 1) expect(await upload(service)).toBe(EXPECTED);
      const oneByOne = await peakOf(service);
      const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => upload(service)));
      expect(statuses).toEqual(Array.from({ length: AT_ONCE }, () => EXPECTED));
      const atOnce = await peakOf(service);
      if (oneByOne === undefined || atOnce === undefined) return;
      // Of what the others would take if they were kept; sockets and garbage take a fifth of it.
      expect(atOnce - oneByOne).toBeLessThan((AT_ONCE - 1) * TEN_MEGABYTES * 0.5);
    },
  );

  test('that are cut on their way leave nothing behind', TIME, async () => {
    const box = await sandbox();
    const dataDir = path.join(box.out, 'data');
    const service = await startServe(['--data-dir', dataDir], { box, timeoutMs: TIME.timeout });
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
