import { expect, test } from 'vitest';
import { systemRandom } from '../../src/system/random.ts';
import { Failure } from '../../src/errors/failure.ts';
import { Conversation } from '../../src/live/conversation.ts';
import type { RequestStatus } from '../../src/live/server-message.ts';
import { hasteful } from './driven.ts';
import { RELIABLE } from './simulation.ts';
import { frame, sockets } from './fake-sockets.ts';

const AUDIO = Buffer.from('what was stored');
const STATUS: RequestStatus = {
  state: 'completed',
  segments: [{ segmentId: 's1', isStored: true, characters: 4, audioBytes: AUDIO.length }],
};

test('a status request is aborted with its connection, and its failure is ignored', async () => {
  const { all, open } = sockets();
  const asked: AbortSignal[] = [];
  const answers: ((audio: Uint8Array) => void)[] = [];
  const conversation = new Conversation(RELIABLE, {
    clock: hasteful,
    random: systemRandom,
    openSocket: open,
    getStatus: async () => STATUS,
    fetchSegment: (_requestId, _segmentId, signal) =>
      new Promise((resolve, reject) => {
        asked.push(signal);
        answers.push(resolve);
        signal.addEventListener('abort', () =>
          reject(new Failure('cut', { code: 'bad_answer', exit: 'badAnswer' })),
        );
      }),
    onNotice: () => {},
  });
  conversation.begin();
  await conversation.say('One.');
  conversation.finish();
  const [line] = all;
  line?.tell({ type: 'opened' });
  line?.tell(frame({ event: 'authenticated' }));
  line?.tell(frame({ event: 'ready' }));
  line?.tell(frame({ event: 'segment_completed', segmentId: 's1', audioBytes: AUDIO.length }));
  await expect.poll(() => asked.length).toBe(1);
  line?.tell({ type: 'closed', code: 1006 });
  await expect.poll(() => asked.length).toBe(2);
  expect(asked.map(({ aborted }) => aborted)).toEqual([true, false]);
  answers[1]?.(AUDIO);
  const heard: Uint8Array[] = [];
  for await (const part of conversation.audio) heard.push(part);
  expect(Buffer.concat(heard).equals(AUDIO)).toBe(true);
});
