import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFastestKernels } from '../../src/neural/kernels.ts';
import { Network } from '../../src/neural/network.ts';
import { readSafetensors } from '../../src/neural/safetensors.ts';
import { openEnglish } from '../../src/phonemes/english.ts';
import { unknownWordReader } from '../../src/phonemes/unknown-word-network.ts';
import { PHONEME_IDS } from '../../src/service/engine/hibari/phoneme-ids.ts';
import { speakPhonemes } from '../../src/service/engine/hibari/voice-model.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { sentencesOfRepository } from './phonemes/plain-sentences.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PYTHON_FILES = path.join(ROOT, 'test/check/python');
const ASSETS = path.join(ROOT, 'assets/voice');
const KERNELS = path.join(ROOT, 'dist/packages/kernels.wasm');
const SENTENCES = process.env['FOLEY_TEST_SIZE'] === 'full' ? 200 : 40;
const VALUES = 3_005;
/** ONNX Runtime itself differs by 0.6 % from one optimization level to the next (findings/). */
const MOST_DIFFERENCE = 0.015;
const WORDS = ['Zorblax', 'hibari', 'Kubernetes', 'quixotry', 'blorptastic', 'snorfing', 'Wexlers'];
const MINUTE = 60_000;

const readUnknown = unknownWordReader(KERNELS, path.join(ASSETS, 'unknown-words.safetensors'));

describe('the networks of the built-in voice and ONNX Runtime', () => {
  let folder = '';
  let sentences: readonly (readonly number[])[] = [];
  let words: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'foley-frames-'));
    const english = openEnglish(ASSETS, readUnknown);
    sentences = sentencesOfRepository(ROOT)
      .slice(0, SENTENCES)
      .map((sentence) => {
        const tokens = english.phonemes(sentence);
        const phonemes = tokens
          .map((one) => (one.hasSpaceAfter ? `${one.phonemes} ` : one.phonemes))
          .join('');
        return [0, ...Array.from(phonemes, (one) => PHONEME_IDS.get(one) ?? 16).slice(0, 380), 0];
      });
    expect(sentences).toHaveLength(SENTENCES);
    const bin = await installPythonTools(path.join(PYTHON_FILES, 'phonemes.txt'));
    const input = JSON.stringify({ sentences, words: WORDS, folder });
    const script = path.join(PYTHON_FILES, 'run_voice.py');
    const { stdout } = await execa(path.join(bin, 'python'), [script], { input });
    words = JSON.parse(stdout).words;
  }, 10 * MINUTE);
  afterAll(() => rm(folder, { recursive: true }));

  test(
    'give the same frames',
    async () => {
      const kernels = startFastestKernels(path.dirname(KERNELS));
      const weights = readSafetensors(readFileSync(path.join(ASSETS, 'voice.safetensors')));
      const network = new Network(kernels, weights, kernels.memory.buffer.byteLength);
      let sameLength = 0;
      for (const [number, ids] of sentences.entries()) {
        network.release();
        const { frames } = speakPhonemes(network, ids, 1);
        const bytes = await readFile(path.join(folder, String(number)));
        const wanted = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
        // A duration at half a step may be rounded the other way.
        if (wanted.length !== frames.rows * VALUES) continue;
        sameLength += 1;
        const difference = differenceOf(wanted, network.values(frames), frames.columns);
        expect(difference, `sentence ${number}`).toBeLessThan(MOST_DIFFERENCE);
      }
      expect(sameLength / SENTENCES).toBeGreaterThan(0.85);
    },
    10 * MINUTE,
  );

  test.each(WORDS)('read the unknown word %s alike', (word) => {
    expect(readUnknown(word)).toBe(words[word]);
  });
});

/** The root mean square of the difference, as a share of that of the wanted values. */
function differenceOf(wanted: Float32Array, found: Float32Array, columns: number): number {
  let error = 0;
  let power = 0;
  for (const [at, value] of wanted.entries()) {
    const row = Math.floor(at / VALUES);
    error += (value - (found[row * columns + (at % VALUES)] ?? 0)) ** 2;
    power += value ** 2;
  }
  return Math.sqrt(error / power);
}
