import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { VOICES } from '../../src/service/catalogue/voices.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import { LISTENER, SLOTS, slotSentence, slotWords, spokenWords } from '../harness/spoken-words.ts';

/** A sentence of the slots for a number; neighbours differ in every word. */
function choicesOf(number: number): number[] {
  return SLOTS.map((_, index) => (number + index * (1 + (number % 3))) % 4);
}

async function hear(choices: readonly number[], file: string, ...flags: readonly string[]) {
  const text = slotSentence(choices);
  const { box, code, stderr } = await runFoley(['tts', text, '-o', file, '--local', ...flags]);
  expect(code, stderr).toBe(0);
  return spokenWords(path.join(box.out, file));
}

describe('a listener that knows no engine hears every word', () => {
  test('of the voice that speaks when none is named', async () => {
    requireTool(LISTENER);
    const choices = choicesOf(9);
    expect(await hear(choices, 'said.mp3')).toEqual({ words: slotWords(choices) });
  });

  // By chance one word in four is right: with eight words, one voice in 65,536 would pass in silence.
  test.each(VOICES.map(({ id, name }, index) => [name, id, choicesOf(index)] as const))(
    'of %s',
    async (_, id, choices) => {
      requireTool(LISTENER);
      const heard = await hear(choices, 'said.mp3', '--voice', id);
      expect(heard).toEqual({ words: slotWords(choices) });
    },
  );

  test.each(['0.75', '1.5'])('at speed %s', async (speed) => {
    requireTool(LISTENER);
    const choices = choicesOf(5);
    const heard = await hear(choices, 'said.ogg', '--speed', speed);
    expect(heard).toEqual({ words: slotWords(choices) });
  });
});
