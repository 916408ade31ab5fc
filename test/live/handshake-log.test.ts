import { expect, test } from 'vitest';
import { handshakeLog } from '../../commands/live/speak-live.ts';
import { manualClock } from '../api/manual-clock.ts';

test('each handshake is logged with its own duration', () => {
  const clock = manualClock();
  const lines: string[] = [];
  const told = handshakeLog((line) => void lines.push(line), clock, 'r');
  const url = new URL('wss://live.example/v3/tts/live');
  told.onConnect();
  clock.advance(5);
  told.onResponse({ url, status: 101 });
  clock.advance(60_000);
  told.onConnect();
  clock.advance(7);
  told.onResponse({ url, reason: 'reset' });
  expect(lines).toEqual([
    'foley: GET wss://live.example/v3/tts/live 101 5 ms r',
    'foley: GET wss://live.example/v3/tts/live reset 7 ms r',
  ]);
});
