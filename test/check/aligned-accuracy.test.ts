import { describe, expect, onTestFinished, test } from 'vitest';
import { createHibariEngine } from '../../src/service/engine/hibari/engine.ts';
import { EngineRegistry } from '../../src/service/engine/speech-engine.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { heardWords } from '../harness/spoken-words.ts';
import type { MonoSound } from '../harness/spoken-words.ts';
import { HIBARI_WORKER_FILE } from '../../src/service/worker-file.ts';
import { jsonPost, testService, voiceId } from '../service/support/test-service.ts';
import type { ReadWord } from '../harness/read-events.ts';
import { readEvents } from '../harness/read-events.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';

/** A woman, two men and a child. */
const VOICES = ['Clara', 'Martin', 'Jonas', 'Maya'] as const;
const TESTED = IS_FULL ? VOICES : (['Clara', 'Martin'] as const);

/** The largest mean absolute error that passes; the measured one is 15 to 17. */
const LARGEST_MEAN_ERROR_MS = 30;

/** Plain words that a recogniser has in its dictionary. */
const SENTENCES = [
  'The weather is good today, and the old bridge over the river is open again.',
  'We bought bread, cheese and a bottle of water in the small shop.',
  'Did you hear the train leave at seven?',
  'Nobody knows why the garden gate was painted blue.',
  'My brother lives in a little house near the sea.',
  'She opened the window because the room was warm.',
  'The children were playing in the park until the evening.',
  'After the meeting, everyone went home without saying a word.',
  'This road leads through the forest to an empty village.',
  'Please remember to close the door when you leave the office.',
];

/** Words that begin with a sound, not with the silence of a closed mouth, each after a pause. */
const PAUSED =
  'One. Nine. Then seven. Many, more. And fewer. Someone. Everyone; and anyone. Nothing. Something. And all. Lions. Zebras. And whales. Never. Almost. Only one.';

interface Spoken {
  readonly words: readonly ReadWord[];
  readonly sound: MonoSound;
  readonly last: unknown;
}

async function speaker(): Promise<(text: string, options: object) => Promise<Spoken>> {
  const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE });
  onTestFinished(() => engine.close());
  const { call } = await testService({ engines: new EngineRegistry([engine]) });
  return async (text, options) => {
    const body = { text, format: 'ogg', ...options };
    const response = await call('/api/open/v3/speech/tts/aligned', jsonPost(body));
    expect(response.status).toBe(200);
    const { audio, words, last } = await readEvents(response);
    return { words, sound: await soundOf(audio), last };
  };
}

/** A wav that is streamed does not know its length, and is no file for a strict reader. */
async function soundOf(audio: Uint8Array): Promise<MonoSound> {
  if (Buffer.from(audio.subarray(0, 4)).toString('latin1') === 'RIFF') {
    const samples = new Int16Array(audio.slice(WAV_HEADER_BYTES).buffer);
    return { samples: Float32Array.from(samples, (one) => one / 32_768), sampleRate: 24_000 };
  }
  const { channels, sampleRate } = await decodeAudio(audio);
  return { samples: channels[0] ?? new Float32Array(0), sampleRate };
}

const WAV_HEADER_BYTES = 44;

/** The middle of the values: a sound within a word that is taken for one after a pause does not count. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function meanAbsolute(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length;
}

/** For each onset how much later the word is that begins nearest to it. */
function differences(onsets: readonly number[], words: readonly ReadWord[]): number[] {
  return onsets.map((onset) =>
    words
      .map(({ startMs }) => startMs - onset)
      .reduce((best, one) => (Math.abs(one) < Math.abs(best) ? one : best), Infinity),
  );
}

describe('word starts', () => {
  test.each(TESTED)('of %s are where its sound begins after a pause', async (voice) => {
    const speak = await speaker();
    const { words, sound } = await speak(PAUSED, { voiceId: voiceId(voice), format: 'wav' });
    const errors = differences(onsetsOf(sound), words);
    expect(errors.length).toBeGreaterThan(12);
    expect(Math.abs(median(errors))).toBeLessThan(10);
    expect(median(errors.map(Math.abs))).toBeLessThan(15);
  });

  test.each(['mp3', 'ogg'])('are right in the decoded %s, at any speed', async (format) => {
    const speak = await speaker();
    for (const speed of IS_FULL ? [0.6, 1.8] : [0.6]) {
      const options = { voiceId: voiceId('Nora'), format, speed, pitch: 3 };
      const { words, sound } = await speak(PAUSED, options);
      const errors = differences(onsetsOf(sound), words);
      expect(errors.length).toBeGreaterThan(4);
      expect(Math.abs(median(errors))).toBeLessThan(10);
      expect(median(errors.map(Math.abs))).toBeLessThan(15);
    }
  });

  test.each(IS_FULL ? VOICES : TESTED.slice(0, 1))(
    'of %s are those that a recogniser hears, in ten sentences',
    async (voice) => {
      const speak = await speaker();
      const errors: number[] = [];
      for (const text of SENTENCES) {
        const spoken = await speak(text, { voiceId: voiceId(voice), format: 'wav' });
        expect(spoken.last).toMatchObject({ data: { alignmentStatus: 'complete' } });
        const names = spoken.words.map((word) => word.text.toLowerCase());
        const heard = await heardWords(spoken.sound, names);
        expect(heard.map(({ word }) => word)).toEqual(names);
        errors.push(
          ...heard.map(({ startMs }, index) => (spoken.words[index]?.startMs ?? 0) - startMs),
        );
      }
      expect(meanAbsolute(errors)).toBeLessThan(LARGEST_MEAN_ERROR_MS);
    },
    60_000,
  );

  test('do not drift: those of a long text end as well as they begin', async () => {
    const speak = await speaker();
    const text = `${PAUSED}\n`.repeat(IS_FULL ? 58 : 5);
    for (const voice of IS_FULL ? VOICES : TESTED.slice(1)) {
      const options = { voiceId: voiceId(voice), format: IS_FULL ? 'ogg' : 'wav' };
      const { words, sound } = await speak(text, options);
      const onsets = onsetsOf(sound);
      const [first, last] = [onsets.slice(0, 15), onsets.slice(-15)];
      expect(sound.samples.length / sound.sampleRate).toBeGreaterThan(IS_FULL ? 600 : 50);
      for (const some of [first, last]) {
        expect(Math.abs(median(differences(some, words)))).toBeLessThan(10);
      }
    }
  }, 120_000);
});

/** Sound is measured in frames of this length, each of which begins half of it after the other. */
const FRAME_MS = 10;

const STEP_MS = 5;

/** A frame this much, in decibels, below the loudest is silence. */
const QUIET_DB = -40;

/** Silence that is shorter is within a word. */
const SHORTEST_PAUSE_MS = 60;

/** When sound begins after silence, in milliseconds, by nothing but its energy. */
function onsetsOf({ samples, sampleRate }: MonoSound): number[] {
  const levels = levelsOf(samples, sampleRate);
  const loudest = levels.reduce((highest, level) => Math.max(highest, level), -Infinity);
  const onsets: number[] = [];
  let silentMs = Infinity;
  for (const [index, level] of levels.entries()) {
    if (level - loudest < QUIET_DB) silentMs += STEP_MS;
    else {
      if (silentMs >= SHORTEST_PAUSE_MS) onsets.push(index * STEP_MS + FRAME_MS / 2);
      silentMs = 0;
    }
  }
  return onsets;
}

function levelsOf(samples: Float32Array, sampleRate: number): number[] {
  const length = Math.round((sampleRate * FRAME_MS) / 1000);
  const step = (sampleRate * STEP_MS) / 1000;
  const count = Math.max(0, Math.floor((samples.length - length) / step));
  return Array.from({ length: count }, (_, index) => {
    const start = Math.round(index * step);
    let energy = 1e-12;
    for (let at = start; at < start + length; at += 1) energy += (samples[at] ?? 0) ** 2;
    return 10 * Math.log10(energy / length);
  });
}
