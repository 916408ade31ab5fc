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
const AT_ONCE = 8;
const TIME = { timeout: 240_000 };

const isFull = process.env['FOLEY_TEST_SIZE'] === 'full';

/**
 * Ten megabytes of wav to the byte: a voice and silence behind it, or nothing but silence, of which no
 * voice is made, as that takes longer than everything else.
 */
function largeWav(): Buffer {
  const samples = new Float32Array((TEN_MEGABYTES - 44) / 2);
  if (isFull) samples.set(referenceVoice({ medianHz: 130, seconds: 2 }).samples);
  return writeWav(samples, 16_000);
}

const EXPECTED = isFull ? 200 : 400;

const form = multipartBody([
  { name: 'name', value: 'Large' },
  { name: 'audioFiles', fileName: 'large.wav', value: largeWav() },
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
    'take no more memory when eight come at once than when they come one by one',
    TIME,
    async () => {
      const box = await sandbox();
      const service = await startServe(['--data-dir', path.join(box.out, 'data')], {
        box,
        timeoutMs: TIME.timeout,
      });
      // As much garbage as eight make, so that both peaks have what is collected late.
      for (let turn = 0; turn < AT_ONCE; turn += 1) expect(await upload(service)).toBe(EXPECTED);
      const oneByOne = await peakOf(service);
      const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => upload(service)));
      expect(statuses).toEqual(Array.from({ length: AT_ONCE }, () => EXPECTED));
      const atOnce = await peakOf(service);
      if (oneByOne === undefined || atOnce === undefined) return;
      // What the seven others would take if they were kept, less what sockets and garbage may take.
      expect(atOnce - oneByOne).toBeLessThan(7 * TEN_MEGABYTES * 0.8);
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
