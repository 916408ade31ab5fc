import { expect, test } from 'vitest';
import { systemRandom } from '../../src/system/random.ts';
import { Conversation } from '../../src/live/conversation.ts';
import type { RequestStatus } from '../../src/live/server-message.ts';
import { hasteful } from './driven.ts';
import { frame, sockets } from './fake-sockets.ts';
import { RELIABLE } from './simulation.ts';

/** More audio than the queue holds. */
const LONG = new Uint8Array(9 * 1024 * 1024);
const STATUS: RequestStatus = {
  state: 'failed_retryable',
  segments: [{ segmentId: 's1', isStored: true, characters: 4, audioBytes: LONG.length }],
};

test('a new connection is read until it is ready, even while the listener takes no audio', async () => {
  const { all, open } = sockets();
  const conversation = new Conversation(RELIABLE, {
    clock: hasteful,
    random: systemRandom,
    openSocket: open,
    getStatus: async () => STATUS,
    fetchSegment: async () => LONG,
    onNotice: () => {},
  });
  conversation.begin();
  await conversation.say('One.');
  await conversation.say('Two.');
  const [first] = all;
  first?.tell({ type: 'opened' });
  first?.tell(frame({ event: 'authenticated' }));
  first?.tell(frame({ event: 'ready' }));
  first?.tell({ type: 'closed', code: 1006 });
  await expect.poll(() => all.length).toBe(2);
  expect(conversation.audio.isFull).toBe(true);
  const [, second] = all;
  second?.tell({ type: 'opened' });
  expect(second?.isRead).toBe(true);
  second?.tell(frame({ event: 'authenticated' }));
  expect(second?.isRead).toBe(true);
  second?.tell(frame({ event: 'ready' }));
  expect(second?.isRead).toBe(false);
  conversation.stop(new Error('enough'));
});
