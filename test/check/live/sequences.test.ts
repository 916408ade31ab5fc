import { describe, expect, test } from 'vitest';
import { meetIdleSequence, meetSequence } from '../../realtime/meet-sequence.ts';
import { IDLE_SEQUENCES, RELIABLE_SEQUENCES, SIMPLE_SEQUENCES } from '../../realtime/sequences.ts';

describe.each(['v3', 'v2'] as const)('the command on %s', (version) => {
  test.each(SIMPLE_SEQUENCES)('in simple mode: %s', async (_name, words, outcome) => {
    expect((await meetSequence(version, 'simple', words)).outcome).toEqual(outcome);
  });

  test.each(RELIABLE_SEQUENCES)('in reliable mode: %s', async (_name, words, outcome) => {
    expect((await meetSequence(version, 'reliable', words)).outcome).toEqual(outcome);
  });

  test.each(IDLE_SEQUENCES)(
    'while it waits for text: %s',
    async (_name, after, end, texts, outcome) => {
      expect(await meetIdleSequence(version, after, end, texts)).toEqual(outcome);
    },
  );
});
