import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHibariEngine } from '../../src/service/engine/hibari/engine.ts';
import { HIBARI_VOICES } from '../../src/service/engine/hibari/cast.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { prepared } from '../harness/spoken-words.ts';
import { writeWav } from '../harness/wav.ts';
import { HIBARI_WORKER_FILE } from '../../src/service/worker-file.ts';
import { countWordErrors, type Sentence, sentencesOf } from './word-errors/count-word-errors.ts';

const SENTENCES = fileURLToPath(new URL('word-errors/sentences.tsv', import.meta.url));
const PYTHON_FILES = fileURLToPath(new URL('python', import.meta.url));
const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
/** Plain sentences, all of which have one reading. */
const PLAIN = 40;
/** Without `npm run soak`, a voice speaks one sentence of five. */
const STEP = IS_FULL ? 1 : 5;
/** Percentage of the words that may be heard wrong. */
const MOST_PERCENT = 3;
/** A word that is heard wrong in few sentences is a larger share. */
const MOST_PERCENT_OF_FEW = 7;
const MINUTE = 60_000;

describe('the words that Whisper hears', () => {
  const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE, threads: 2 });
  let bin = '';
  let sentences: readonly Sentence[] = [];

  beforeAll(async () => {
    bin = await installPythonTools(path.join(PYTHON_FILES, 'whisper.txt'));
    const plain = sentencesOf(await readFile(SENTENCES, 'utf8')).slice(0, PLAIN);
    expect(plain).toHaveLength(PLAIN);
    sentences = plain.filter((_, index) => index % STEP === 0);
  }, 10 * MINUTE);
  afterAll(() => engine.close());

  test.each(HIBARI_VOICES.map(({ id, description }) => [id, description] as const))(
    'of %s (%s) are right',
    async (voice) => {
      const { errors, misheard, words } = countWordErrors(sentences, await heardOf(voice));
      const percent = (100 * errors) / words;
      process.stdout.write(
        `${voice}: ${errors} of ${words} words wrong (${percent.toFixed(1)} %)\n`,
      );
      const most = IS_FULL ? MOST_PERCENT : MOST_PERCENT_OF_FEW;
      expect(percent, misheard.join('\n')).toBeLessThanOrEqual(most);
    },
    10 * MINUTE,
  );

  /** Speaks the sentences; returns the words heard in each. */
  async function heardOf(voice: string): Promise<readonly string[]> {
    const folder = path.join((await createSandbox()).root, voice);
    await mkdir(folder);
    const files: string[] = [];
    for (const [index, { written }] of sentences.entries()) {
      const request = { text: written, voice, pitch: 0, speed: 1 };
      const chunks = engine.synthesize(request, new AbortController().signal);
      const parts: Float32Array[] = [];
      for await (const { samples } of chunks) parts.push(samples);
      const samples = Float32Array.from(parts.flatMap((part) => [...part]));
      const file = path.join(folder, `${index}.wav`);
      const heard = prepared({ samples, sampleRate: 24_000 });
      await writeFile(file, writeWav(heard.samples, heard.sampleRate));
      files.push(file);
    }
    const script = path.join(PYTHON_FILES, 'transcribe.py');
    const input = files.join('\n');
    const { stdout } = await execa(path.join(bin, 'python'), [script], { input });
    return stdout.split('\n');
  }
});
