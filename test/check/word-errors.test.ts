import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeSpeech } from '../../src/service/engine/encode/encode-speech.ts';
import { createFliteEngine } from '../../src/service/engine/flite/engine.ts';
import type { SpeechEngine } from '../../src/service/engine/speech-engine.ts';
import { type CatalogueVoice, VOICES } from '../../src/service/voices/voices.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { sandbox } from '../harness/sandbox.ts';
import { type Bundled, bundleEngine } from '../service/engine/bundled.ts';
import { countWordErrors, type Sentence, sentencesOf } from './word-errors/count-word-errors.ts';

const FOLDER = fileURLToPath(new URL('word-errors', import.meta.url));
const PYTHON_FILES = fileURLToPath(new URL('python', import.meta.url));
const BASELINE = path.join(FOLDER, 'baseline.json');
const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
/** Writes the baseline instead of comparing with it. */
const IS_WRITTEN = process.env['FOLEY_WRITE_BASELINE'] === '1';
/** Without `npm run soak`, a voice speaks one sentence of six. */
const STEP = 6;
/** Percentage points by which a voice may be understood worse than in the baseline, by the number of sentences. */
const MARGINS: Readonly<Record<string, number>> = { 20: 2, 120: 1 };
const MINUTE = 60_000;

interface Baseline {
  /** Number of wrong words of each voice, by the number of sentences. */
  [sentences: string]: Record<string, number>;
}

describe('the words that a recognizer hears', () => {
  let bundled: Bundled;
  let engine: SpeechEngine;
  let bin = '';
  let all: readonly Sentence[] = [];
  let baseline: Baseline = {};

  beforeAll(async () => {
    bundled = await bundleEngine();
    engine = createFliteEngine({ workerFile: bundled.workerFile });
    bin = await installPythonTools(path.join(PYTHON_FILES, 'recognizer.txt'));
    all = sentencesOf(await readFile(path.join(FOLDER, 'sentences.tsv'), 'utf8'));
    expect(all).toHaveLength(120);
    baseline = JSON.parse(await readFile(BASELINE, 'utf8'));
  }, 10 * MINUTE);
  afterAll(async () => {
    await engine.close();
    await bundled.remove();
  });

  test.each(VOICES.map((voice) => [voice.name, voice] as const))(
    'of %s are right about as often as before',
    async (name, voice) => {
      const sentences = IS_FULL ? all : all.filter((_, index) => index % STEP === 0);
      const heard = await heardOf(voice, sentences);
      const { errors, misheard, words } = countWordErrors(sentences, heard);
      const percent = (100 * errors) / words;
      process.stdout.write(
        `${name}: ${errors} of ${words} words wrong (${percent.toFixed(1)} %)\n`,
      );
      const size = String(sentences.length);
      if (IS_WRITTEN) {
        baseline = { ...baseline, [size]: { ...baseline[size], [name]: errors } };
        return writeFile(BASELINE, `${JSON.stringify(baseline, undefined, 2)}\n`);
      }
      const before = baseline[size]?.[name];
      expect(before, `${name} has no baseline`).toBeDefined();
      const worse = percent - (100 * (before ?? 0)) / words;
      expect(worse, misheard.join('\n')).toBeLessThanOrEqual(MARGINS[size] ?? 0);
    },
    10 * MINUTE,
  );

  /** Speaks the sentences; returns the words heard in each. */
  async function heardOf(
    { engine: { pitch, speed, voice }, name }: CatalogueVoice,
    sentences: readonly Sentence[],
  ) {
    const folder = path.join((await sandbox()).root, name);
    await mkdir(folder);
    const files: string[] = [];
    for (const [index, { written }] of sentences.entries()) {
      const request = { text: written, voice, pitch, speed };
      const chunks = engine.synthesize(request, new AbortController().signal);
      const parts: Uint8Array[] = [];
      for await (const part of encodeSpeech('wav', chunks)) parts.push(part);
      const file = path.join(folder, `${index}.wav`);
      await writeFile(file, Buffer.concat(parts));
      files.push(file);
    }
    const script = path.join(PYTHON_FILES, 'recognize.py');
    const input = files.join('\n');
    const { stdout } = await execa(path.join(bin, 'python'), [script], { input });
    return stdout.split('\n');
  }
});
