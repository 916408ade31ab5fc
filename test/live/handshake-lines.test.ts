import { expect, test } from 'vitest';
import { handshakeLines } from '../../commands/live/conversation-way.ts';
import { manualClock } from '../api/manual-clock.ts';

test('each handshake is told with its own time, however long was spoken before it', () => {
  const clock = manualClock();
  const lines: string[] = [];
  const io = { complain: (line: string) => void lines.push(line) };
  const told = handshakeLines({ clock, io, globals: { verbose: true } }, 'r');
  const url = new URL('wss://live.example/v3/tts/live');
  told.onConnect();
  clock.advance(5);
  told.onAnswer({ url, status: 101 });
  clock.advance(60_000);
  told.onConnect();
  clock.advance(7);
  told.onAnswer({ url, reason: 'reset' });
  expect(lines).toEqual([
    'foley: GET wss://live.example/v3/tts/live 101 5 ms r',
    'foley: GET wss://live.example/v3/tts/live reset 7 ms r',
  ]);
});
