import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { speak } from '../../harness/flite.ts';
import { requireTool } from '../../harness/require-tool.ts';
import {
  LISTENER,
  SLOTS,
  slotSentence,
  slotWords,
  spokenWords,
} from '../../harness/spoken-words.ts';
import { writeWav } from '../../harness/wav.ts';

describe('the listener that judges speech', () => {
  test('the grammar has the words of the slots and no others', async () => {
    const grammar = await readFile(new URL('../../fixtures/slots.gram', import.meta.url), 'utf8');
    const slots = [...grammar.matchAll(/^<\w+> = (.*);$/gmu)].map(([, words = '']) =>
      words.split(' | '),
    );
    expect(slots).toEqual(SLOTS);
  });

  test('hears in samples and in a file what is said', async () => {
    requireTool(LISTENER);
    const folder = await mkdtemp(path.join(tmpdir(), 'foley-words-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const choices = [1, 2, 3, 0, 2, 1, 0, 3];
    const samples = speak(slotSentence(choices));
    const file = path.join(folder, 'said.wav');
    await writeFile(file, writeWav(samples, 16_000));
    expect(await spokenWords({ samples, sampleRate: 16_000 })).toEqual({
      words: slotWords(choices),
    });
    expect(await spokenWords(file)).toEqual({ words: slotWords(choices) });
  });

  test('hears no words in noise', async () => {
    requireTool(LISTENER);
    let state = 1;
    const noise = Float32Array.from({ length: 48_000 }, () => {
      state = (state * 16_807) % 2_147_483_647;
      return state / 2_147_483_647 - 0.5;
    });
    const { words = [] } = await spokenWords({ samples: noise, sampleRate: 16_000 });
    const said = slotWords([0, 1, 2, 3, 0, 1, 2, 3]);
    expect(words.filter((word) => said.includes(word)).length).toBeLessThan(5);
  });
});
