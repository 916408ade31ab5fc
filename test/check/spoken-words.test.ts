import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import type { StartedService } from '../contract/start-service.ts';
import { startService } from '../contract/start-service.ts';
import { requireTool } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import { LISTENER, SLOTS, slotSentence, slotWords, spokenWords } from '../harness/spoken-words.ts';

/** A sentence of the slots for a number; neighbours differ in every word. */
function choicesOf(number: number): number[] {
  return SLOTS.map((_, index) => (number + index * (1 + (number % 3))) % 4);
}

let service: StartedService;
beforeAll(async () => {
  service = await startService([]);
});
afterAll(() => service.stop());

/** Hears what a command gets of the service, or of its own with `--local`. */
async function hear(choices: readonly number[], file: string, ...flags: readonly string[]) {
  const args = ['tts', slotSentence(choices), '-o', file, ...flags];
  const hosted = { FOLEY_BASE_URL: service.baseUrl, FOLEY_API_KEY: service.key };
  const env = flags.includes('--local') ? {} : hosted;
  const { sandbox, code, stderr } = await runFoley(args, { env });
  expect(code, stderr).toBe(0);
  return spokenWords(path.join(sandbox.out, file));
}

describe('a listener that knows no engine hears every word', () => {
  test('of the voice that speaks when none is named', async () => {
    requireTool(LISTENER);
    const choices = choicesOf(9);
    expect(await hear(choices, 'said.mp3', '--local')).toEqual({ words: slotWords(choices) });
  });

  // By chance one word in four is right: with seven of eight words, one voice in 2,600 would pass in silence. The listener
  // knows only words of its grammar, and takes one of Maya's for another that begins alike; Whisper hears it.
  test.each(VOICES.map(({ id, name }, index) => [name, id, choicesOf(index)] as const))(
    'of %s',
    async (_, id, choices) => {
      requireTool(LISTENER);
      const heard = await hear(choices, 'said.mp3', '--voice', id);
      const words = 'words' in heard ? (heard.words ?? []) : [];
      const wrong = slotWords(choices).filter((word, index) => word !== words[index]);
      expect(wrong.length, JSON.stringify(heard)).toBeLessThanOrEqual(1);
    },
  );

  test.each(['0.75', '1.5'])('at speed %s', async (speed) => {
    requireTool(LISTENER);
    const choices = choicesOf(5);
    const heard = await hear(choices, 'said.ogg', '--local', '--speed', speed);
    expect(heard).toEqual({ words: slotWords(choices) });
  });
});
