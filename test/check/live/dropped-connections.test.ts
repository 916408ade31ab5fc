import { describe, expect, test } from 'vitest';
import { drop, serve } from '../../realtime/script.ts';
import type { Fault } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { spokenAudio } from '../../realtime/segment-audio.ts';
import { speak } from '../../live/driven.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const TEXTS = Array.from({ length: 10 }, (_none, index) => `Number ${index}.`);
const UNDISTURBED = spokenAudio(TEXTS, 'pcm');
const SENT = 3 + 7 * TEXTS.length;
const RECEIVED = 2 + 2 * TEXTS.length;
/** In the small size every so many boundaries; the number meets every kind of message. */
const STRIDE = IS_FULL ? 1 : 29;
const V2 = {
  protocol: 'v2',
  request: {
    parameterProfile: 'product_v1',
    voiceId: 'voice-1',
    modelId: 'vendor-s21pro-flash',
    format: 'pcm',
  },
} as const;

const boundaries: readonly Fault[] = (
  [
    ['sent', SENT],
    ['received', RECEIVED],
  ] as const
).flatMap(([on, count]) =>
  Array.from({ length: count }, (_none, index) => index + 1).flatMap((number) =>
    (['before', 'after'] as const).map((when) => ({ on, number, when, steps: [drop()] })),
  ),
);

describe.each([
  ['v3', 'failed'],
  ['v3', 'stored'],
  ['v2', 'failed'],
  ['v2', 'stored'],
] as const)('%s, what is under way when the line drops is %s', (protocol, interrupted) => {
  test('a connection dropped at any message changes neither the audio nor the cost', async () => {
    const choices = protocol === 'v2' ? V2 : {};
    let lost = 0;
    for (const fault of boundaries.filter((_one, index) => index % STRIDE === 0)) {
      const place = `${fault.when} ${fault.on} ${fault.number}`;
      const server = await startScriptedServer({
        interrupted,
        connections: [{ steps: [serve({ faults: [fault] })] }],
      });
      const { audio, failure } = await speak(server, TEXTS, choices);
      const charged = server.book.charges.map(({ segmentId }) => segmentId);
      expect(new Set(charged).size, place).toBe(charged.length);
      if (protocol === 'v2' && failure !== undefined) {
        lost += 1;
        expect([place, failure.exit, failure.billed]).toEqual([place, 'lost', 'yes']);
        expect(failure.details?.['segments'], place).not.toEqual([]);
        expect(UNDISTURBED.subarray(0, audio.length).equals(audio), place).toBe(true);
        continue;
      }
      expect([place, failure]).toEqual([place, undefined]);
      expect(audio.equals(UNDISTURBED), place).toBe(true);
      expect(charged.length, place).toBe(TEXTS.length);
    }
    // v2 cannot fetch segments that were completed without a connection.
    const mayLose = protocol === 'v2' && interrupted === 'stored';
    if (IS_FULL || !mayLose) expect(lost > 0).toBe(mayLose);
  }, 300_000);
});
