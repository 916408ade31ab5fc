import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Agent, request } from 'undici';
import * as catalogue from '../../fault-server/catalogue.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { connectRaw, getRaw } from '../../harness/raw-connection.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';

const { mp3 } = await tinyAudio();
const half = mp3.bytes.subarray(0, mp3.bytes.length / 2);
const inHex = (bytes: Buffer) => bytes.length.toString(16);

const serve = async (answer: readonly Step[]) => startFaultServer([{ answer }]);

describe('before there is a head', () => {
  test('a reset breaks the connection without a byte', async () => {
    const server = await serve(catalogue.resetBeforeHeaders());
    expect(await getRaw(server.origin)).toMatchObject({ ending: 'reset', text: '' });
  });

  test('a close ends it in order without a byte', async () => {
    const server = await serve(catalogue.closeBeforeHeaders());
    expect(await getRaw(server.origin)).toMatchObject({ ending: 'fin', text: '' });
  });

  test('a close inside the head ends it within a line', async () => {
    const server = await serve(catalogue.closeInsideHeaders());
    const { ending, text } = await getRaw(server.origin);
    expect(ending).toBe('fin');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*[^\n]$/s);
  });
});

/** What stands on the wire: how the connection ends, how the body is framed, and what comes of it. */
const cuts = [
  [catalogue.resetMidBody, 'reset', `Content-Length: ${mp3.bytes.length}`, half],
  [catalogue.shortBody, 'fin', `Content-Length: ${mp3.bytes.length}`, half],
  [catalogue.resetAfterLastByte, 'reset', `Content-Length: ${mp3.bytes.length}`, mp3.bytes],
  [catalogue.lyingLength, 'fin', `Content-Length: ${half.length}`, mp3.bytes],
  [catalogue.closeDelimited, 'fin', 'Connection: close', mp3.bytes],
  [catalogue.closeDelimitedShort, 'fin', 'Connection: close', half],
  [catalogue.closeDelimitedReset, 'reset', 'Connection: close', half],
] as const;

test.each(cuts)('$0.name ends with $1 after $2', async (fault, ending, framing, body) => {
  const server = await serve(fault(mp3));
  const seen = await getRaw(server.origin);
  expect(seen.ending).toBe(ending);
  expect(seen.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(seen.text).toContain('Content-Type: audio/mpeg\r\n');
  expect(seen.text).toContain(`${framing}\r\n`);
  expect(seen.body.equals(body)).toBe(true);
});

test('a body without a length has neither length nor chunks', async () => {
  const server = await serve(catalogue.closeDelimited(mp3));
  const { text } = await getRaw(server.origin);
  expect(text).not.toMatch(/^(?:Content-Length|Transfer-Encoding):/im);
});

const chunked = [
  [catalogue.resetMidChunkedBody, 'reset', inHex(half), `${half.toString('latin1')}\r\n`],
  [catalogue.closeBeforeLastChunk, 'fin', inHex(mp3.bytes), `${mp3.bytes.toString('latin1')}\r\n`],
  [catalogue.closeInsideChunk, 'fin', inHex(mp3.bytes), half.toString('latin1')],
] as const;

test.each(chunked)(
  '$0.name ends with $1 and has no last chunk',
  async (fault, ending, size, rest) => {
    const server = await serve(fault(mp3));
    const seen = await getRaw(server.origin);
    expect(seen.ending).toBe(ending);
    expect(seen.text).toContain('Transfer-Encoding: chunked\r\n');
    expect(seen.body.toString('latin1')).toBe(`${size}\r\n${rest}`);
  },
);

test('a reset after the last byte lets all bytes through, every time', async () => {
  const server = await serve(catalogue.resetAfterLastByte(mp3));
  for (let time = 0; time < 50; time += 1) {
    const { ending, body } = await getRaw(server.origin);
    expect([ending, body.length]).toStrictEqual(['reset', mp3.bytes.length]);
  }
});

test('a reset when idle comes after a whole answer, on demand', async () => {
  const server = await serve(catalogue.resetWhenIdle(mp3));
  const client = await connectRaw(server.origin);
  client.get();
  await server.paused();
  await client.waitFor(mp3.bytes.length);
  await server.advance();
  expect(await client.ended).toBe('reset');
  expect(client.body.equals(mp3.bytes)).toBe(true);
});

test('a cut gzip is framed truly and stops in the middle of its stream', async () => {
  const server = await serve(catalogue.cutGzip(mp3));
  const { headers, body } = await request(server.origin);
  const bytes = Buffer.from(await body.arrayBuffer());
  expect(headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-length': String(bytes.length),
  });
  expect(() => gunzipSync(bytes)).toThrow('unexpected end of file');
});

test('a whole gzip is whole', async () => {
  const server = await serve(catalogue.gzipBody(mp3));
  const { body } = await request(server.origin);
  expect(gunzipSync(await body.arrayBuffer()).equals(mp3.bytes)).toBe(true);
});

test('a chunked body that is no fault is read to its end', async () => {
  const server = await serve(catalogue.chunkedBody(mp3));
  const { body } = await request(server.origin);
  expect(Buffer.from(await body.arrayBuffer()).equals(mp3.bytes)).toBe(true);
});

/** The faults that undici takes for a whole answer; the program has to see them by itself. */
test.each([
  { fault: catalogue.closeDelimitedShort },
  { fault: catalogue.closeDelimitedReset },
  { fault: catalogue.lyingLength },
])('undici does not notice $fault.name', async ({ fault }) => {
  const server = await serve(fault(mp3));
  const dispatcher = new Agent();
  const { body } = await request(server.origin, { dispatcher });
  expect((await body.arrayBuffer()).byteLength).toBe(half.length);
  await dispatcher.destroy();
});
