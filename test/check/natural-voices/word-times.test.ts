import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { alignTo } from '../../alignment/spoken.ts';
import { driveEngine } from '../../engines/drive-engine.ts';
import { heardWords } from '../../harness/spoken-words.ts';
import { naturalModels } from '../../harness/natural-models.ts';
import { sentencesOf } from '../word-errors/count-word-errors.ts';

const ENGINES = fileURLToPath(new URL('../../../engines/', import.meta.url));
const READER = fileURLToPath(new URL('../../../dist/english-reader.cjs', import.meta.url));
const TABLE = fileURLToPath(new URL('../word-errors/sentences.tsv', import.meta.url));
const MINUTE = 60_000;
const SENTENCES = 20;
const TOGETHER = 4;

const VOICES = [
  { name: 'kokoro', voice: 'af_heart', rate: 24_000 },
  { name: 'piper', voice: 'en_US-joe-medium', rate: 22_050 },
];

/** Milliseconds between the start of a word and the start that a recognizer hears, which has the words. */
interface Differences {
  /** Of the times that the engine sends. */
  readonly sent: number[];
  /** Of the times that foley finds when an engine sends none. */
  readonly found: number[];
}

describe('words of natural voices start where a recognizer hears them', () => {
  let models = '';

  beforeAll(async () => {
    models = await naturalModels();
    const script = new URL('../../../scripts/install-engine-packages.mjs', import.meta.url).href;
    (await import(script)).setup();
  }, 10 * MINUTE);

  test.each(VOICES)(
    'by $voice, within a thirtieth of a second on average',
    async ({ name, voice, rate }) => {
      const { sent, found } = await differencesOf(name, voice, rate);
      process.stdout.write(`${voice}: sent ${summary(sent)}; found ${summary(found)}\n`);
      expect(mean(sent.map(Math.abs))).toBeLessThan(30);
      expect(percentile(sent.map(Math.abs), 0.9)).toBeLessThan(70);
      expect(mean(found.map(Math.abs))).toBeLessThan(60);
    },
    20 * MINUTE,
  );

  async function differencesOf(name: string, voice: string, rate: number): Promise<Differences> {
    const engine = driveEngine(path.join(ENGINES, name, 'engine.mjs'), [
      '--model-folder',
      path.join(models, name),
      ...(name === 'kokoro' ? ['--reader', READER] : []),
    ]);
    await engine.greet();
    const sent: number[] = [];
    const found: number[] = [];
    for (const text of await passages()) {
      const { samples, words } = await engine.speak(text, voice);
      const sound = {
        samples: Float32Array.from(samples, (one) => one / 32_768),
        sampleRate: rate,
      };
      const spoken = words.map(({ start, end }) => text.slice(start, end).toLowerCase());
      const heard = await heardWords(sound, spoken);
      expect(heard.map(({ word }) => word)).toEqual(spoken);
      const placed = await alignTo(text, sound);
      expect(placed).toHaveLength(heard.length);
      for (const [index, { startMs }] of heard.entries()) {
        sent.push((words[index]?.startMs ?? Number.NaN) - startMs);
        const place = placed[index];
        if (place !== undefined) found.push(place.startMs - startMs);
      }
    }
    expect(found.length).toBeGreaterThan(0.95 * sent.length);
    return { sent, found };
  }
});

async function passages(): Promise<string[]> {
  const written = sentencesOf(await readFile(TABLE, 'utf8'))
    .slice(0, SENTENCES)
    .map((sentence) => sentence.written);
  return Array.from({ length: SENTENCES / TOGETHER }, (_, index) =>
    written.slice(index * TOGETHER, (index + 1) * TOGETHER).join(' '),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
}

function summary(values: readonly number[]): string {
  const sizes = values.map(Math.abs);
  const figures = { mean: mean(values), size: mean(sizes), p90: percentile(sizes, 0.9) };
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(1)} ms`);
  return `${values.length} words, ${shown.join(', ')}`;
}
