import { expect, test } from 'vitest';
import type { SocketListener } from '../../../src/service/realtime/session.ts';
import { connectRaw } from '../../harness/raw-connection.ts';
import { KEY } from '../support/test-service.ts';
import { realtimeService } from './realtime-service.ts';

const SUBPROTOCOL = 'realtime.tts.msgpack.v3';
/** A binary frame of a client, without a byte in it. */
const EMPTY_FRAME = Uint8Array.of(0x82, 0x80, 0, 0, 0, 0);

test('a terminal error is the end of reading, whatever else a client sends', async () => {
  const heard: Uint8Array[] = [];
  const { baseUrl, clock } = await realtimeService({}, (listener) => ({
    ...forwarded(listener),
    message(bytes, isText) {
      heard.push(bytes);
      listener.message(bytes, isText);
    },
  }));
  const connection = await connectRaw(baseUrl);
  const handshake = [
    'GET /v3/tts/live HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${KEY}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`,
  ];
  connection.send(`${handshake.join('\r\n')}\r\n\r\n`);
  connection.socket.write(Buffer.alloc(24_000_000, EMPTY_FRAME));
  // The close frame with 1007.
  await expect.poll(() => connection.text).toContain('\x88\x02\x03\xef');
  for (let count = 0; count < 20; count += 1) {
    expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
  }
  expect(heard).toHaveLength(1);
  expect(connection.socket.writableLength).toBeGreaterThan(0);
  // The time for the client's own close frame, which never comes.
  clock.advance(5_000);
});

test('messages that come together are read one a turn, so that other clients have theirs', async () => {
  const turns: number[] = [];
  let turn = 0;
  const service = await realtimeService({}, (listener) => ({
    ...forwarded(listener),
    message(bytes, isText) {
      turns.push(turn);
      listener.message(bytes, isText);
    },
  }));
  const client = await service.connect('v3');
  await client.expect('authenticated');
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  for (let index = 0; index < 200; index += 1) client.send({ event: 'ping' });
  await expect.poll(() => turns.length).toBe(200);
  isOver = true;
  expect(new Set(turns).size).toBe(200);
});

function forwarded(listener: SocketListener): SocketListener {
  return {
    message: (bytes, isText) => listener.message(bytes, isText),
    pong: () => listener.pong(),
    closed: () => listener.closed(),
  };
}
