import { describe, expect, test } from 'vitest';
import { Heartbeat, Writer, STALL_MS, RecentIds } from '../../../src/service/realtime/session.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { plainRequest, realtimeService } from './realtime-service.ts';

const MEGABYTE = 1024 * 1024;

/** A socket whose client reads on demand. */
function stuckSocket() {
  const waiting: { readonly bytes: number; readonly sent: () => void }[] = [];
  const did: string[] = [];
  return {
    did,
    get bufferedAmount() {
      return waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    },
    send: (bytes: Uint8Array, sent: () => void) => void waiting.push({ bytes: bytes.length, sent }),
    ping: () => void did.push('ping'),
    close: (code: number) => void did.push(`close ${code}`),
    terminate: () => void did.push('terminate'),
    disconnect: (kind: string) => void did.push(kind),
    /** The oldest message is read. */
    read: () => waiting.shift()?.sent(),
  };
}

function writerOver(socket: ReturnType<typeof stuckSocket>, cut?: 'reset' | 'truncate') {
  const clock = manualClock();
  let stalls = 0;
  const rule = cut === undefined ? undefined : { kind: cut, afterBytes: 10 };
  const writer = new Writer(socket, clock, rule, () => {
    stalls += 1;
  });
  return { writer, clock, stalls: () => stalls };
}

describe('what is sent', () => {
  test('finds room as long as little waits, and again when it was read', async () => {
    const socket = stuckSocket();
    const { writer, clock } = writerOver(socket);
    writer.send(new Uint8Array(MEGABYTE));
    await writer.drain();
    writer.send(new Uint8Array(1));
    const drained = writer.drain();
    expect(clock.running()).toEqual([STALL_MS]);
    socket.read();
    await drained;
    expect(clock.running()).toEqual([]);
  });

  test('stalls when the client does not read for long after its last read', async () => {
    const socket = stuckSocket();
    const { writer, clock, stalls } = writerOver(socket);
    for (let count = 0; count < 3; count += 1) writer.send(new Uint8Array(MEGABYTE));
    void writer.drain();
    clock.advance(STALL_MS - 1);
    socket.read();
    clock.advance(STALL_MS - 1);
    expect(stalls()).toBe(0);
    clock.advance(1);
    expect(stalls()).toBe(1);
  });

  test('is given up at once when a client only asks and never reads', () => {
    const socket = stuckSocket();
    const { writer, stalls } = writerOver(socket);
    for (let count = 0; count < 4; count += 1) writer.send(new Uint8Array(MEGABYTE));
    expect(stalls()).toBe(0);
    writer.send(new Uint8Array(1));
    expect(stalls()).toBe(1);
  });

  test.each(['reset', 'truncate'] as const)('breaks off where a fault rule says: %s', (kind) => {
    const socket = stuckSocket();
    const { writer } = writerOver(socket, kind);
    writer.send(new Uint8Array(6));
    writer.send(new Uint8Array(5));
    writer.send(new Uint8Array(1));
    expect(socket.bufferedAmount).toBe(6);
    expect(socket.did).toEqual([kind]);
  });

  test('lets go of who waits when the connection ends', async () => {
    const { writer } = writerOver(stuckSocket());
    writer.send(new Uint8Array(2 * MEGABYTE));
    const drained = writer.drain();
    writer.close();
    await drained;
    writer.send(new Uint8Array(1));
  });
});

test('a line that answers no ping is given up, one that says anything is not', () => {
  const clock = manualClock();
  const socket = stuckSocket();
  const heartbeat = new Heartbeat(socket, clock);
  for (let beat = 0; beat < 3; beat += 1) clock.advance(20_000);
  heartbeat.reset();
  for (let beat = 0; beat < 3; beat += 1) clock.advance(20_000);
  expect(socket.did).toEqual(Array.from({ length: 6 }, () => 'ping'));
  clock.advance(20_000);
  expect(socket.did.at(-1)).toBe('terminate');
  expect(clock.running()).toEqual([]);
});

test('ids of events are remembered, the latest of them', () => {
  const ids = new RecentIds(2);
  expect(['a', 'b', 'a', 'c', 'a'].map((id) => ids.add(id))).toEqual([
    false,
    false,
    true,
    false,
    false,
  ]);
});

test('a client that does not read ends with `client_backpressure`; speech waits for it in bounded memory', async () => {
  const service = await realtimeService();
  const client = await service.connect('v3');
  await client.expect('authenticated');
  const request = plainRequest('v3', { format: 'wav', speed: 0.5 });
  client.send({ event: 'start', mode: 'reliable', requestId: 'r', request });
  await client.expect('ready');
  client.socket.pause();
  const sentence = `${'word '.repeat(300)}. `;
  for (let segment = 1; segment <= 60; segment += 1) {
    client.send({ event: 'text', sequence: segment, text: sentence.slice(0, 1_500) });
    client.send({ event: 'flush', segmentId: `s${segment}` });
  }
  // The other one is that of a client that has nothing to wait for.
  const stalls = (): number => service.clock.running().filter((ms) => ms === STALL_MS).length;
  await expect.poll(stalls, { timeout: 60_000 }).toBe(2);
  const made = service.engine.chunksMade();
  service.clock.advance(STALL_MS);
  client.socket.resume();
  const messages = await client.until('error');
  expect(messages.at(-1)).toMatchObject({ code: 'client_backpressure', retryable: true });
  expect(await client.ended()).toMatchObject({ code: 1013 });
  expect(made).toBeLessThan(60);
}, 120_000);
