import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { driveEngine, type DrivenEngine } from '../engines/drive-engine.ts';
import { independentMeter } from '../harness/independent-meter.ts';
import { naturalModels } from '../harness/natural-models.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox, type Sandbox } from '../harness/sandbox.ts';
import { prepared } from '../harness/spoken-words.ts';
import { readWav, writeWav } from '../harness/wav.ts';
import { sentencesIn } from './engines/sentences.ts';
import { countWordErrors, type Sentence, sentencesOf } from './word-errors/count-word-errors.ts';

const ENGINE = fileURLToPath(new URL('../../engines/kokoro/engine.mjs', import.meta.url));
const READER = fileURLToPath(new URL('../../dist/english-reader.cjs', import.meta.url));
const WORD_ERRORS = fileURLToPath(new URL('word-errors/sentences.tsv', import.meta.url));
const PYTHON_FILES = fileURLToPath(new URL('python', import.meta.url));
const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const SENTENCES = IS_FULL ? 40 : 12;
const MINUTE = 60_000;
const RATE = 24_000;
const LUFS = -20;
const TOLERANCE_LU = 2;
/** Programs in the folder `python`, with the packages that they need. */
const RECOGNIZERS = {
  pocketsphinx: { requirements: 'recognizer.txt', script: 'recognize.py' },
  whisper: { requirements: 'whisper.txt', script: 'transcribe.py' },
};
/** Percentage of the words that may be heard wrong more often than those of Martin. */
const MARGIN_PERCENT = { pocketsphinx: 10, whisper: 2 };

const voiceOf: Readonly<Record<string, string>> = {
  'en-US': 'af_heart',
  'en-GB': 'bf_emma',
  es: 'ef_dora',
  fr: 'ff_siwis',
  hi: 'hf_alpha',
  it: 'if_sara',
  'pt-BR': 'pf_dora',
};

describe('Kokoro with its real model', () => {
  let models = '';
  const kokoro = (): DrivenEngine =>
    driveEngine(ENGINE, ['--model-folder', path.join(models, 'kokoro'), '--reader', READER]);

  beforeAll(async () => {
    models = await naturalModels();
    const script = new URL('../../scripts/install-engine-packages.mjs', import.meta.url).href;
    (await import(script)).setup();
  }, 10 * MINUTE);

  test(
    'is added with 41 voices in seven languages',
    async () => {
      const sandbox = await createSandbox();
      const args = ['engine', 'add', 'kokoro', '--from', models, '--yes', '--json'];
      const { code, stderr, stdout } = await runFoley(args, { sandbox, timeoutMs: 10 * MINUTE });
      expect(code, stderr).toBe(0);
      const { voices } = JSON.parse(stdout.toString());
      expect(voices).toHaveLength(41);
      const languages = voices.map(({ language }: { language: string }) => language);
      expect([...new Set(languages)]).toEqual(Object.keys(voiceOf));
    },
    10 * MINUTE,
  );

  test.each(Object.entries(voiceOf))(
    'speaks %s at the common level, with times of all words, as %s',
    async (language, voice) => {
      const engine = kokoro();
      await engine.greet();
      const text = sentencesIn(language);
      const { end, samples, words } = await engine.speak(text, voice);
      expect(end.type).toBe('done');
      const meter = await independentMeter();
      const lufs = meter.mono(RATE, floats(samples));
      expect(Math.abs(lufs - LUFS), `${lufs} LUFS`).toBeLessThan(TOLERANCE_LU);
      expect(words).toHaveLength(text.split(/\s+/u).filter((one) => /\p{L}/u.test(one)).length);
      const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      const lengthMs = (samples.length * 1000) / RATE;
      expect(times.at(-1)).toBeLessThanOrEqual(lengthMs);
      // About 10 to 20 letters a second.
      expect(lengthMs / text.length).toBeGreaterThan(40);
      expect(lengthMs / text.length).toBeLessThan(120);
    },
    10 * MINUTE,
  );

  test(
    'pauses between sentences and inside of long clauses, not at abbreviations and quoted questions',
    async () => {
      const engine = kokoro();
      await engine.greet();
      const pauseAfter = async (text: string, word: string): Promise<number> => {
        const { words } = await engine.speak(text, 'af_heart');
        const at = words.findIndex(({ start, end }) => text.slice(start, end) === word);
        return (words[at + 1]?.startMs ?? 0) - (words[at]?.endMs ?? Infinity);
      };
      const clause =
        'When the long train from the north finally came into the old station with its broken roof ' +
        'and its dark empty platforms, the passengers picked up their bags and went.';
      for (const [text, word, least, most] of [
        ['He laughed. She did not.', 'laughed', 270, 400],
        ['Stop! Who goes there? It is only me. Come in, then.', 'there', 270, 400],
        ['Stop! Who goes there? It is only me. Come in, then.', 'me', 270, 400],
        ['“Who are you?” she asked. “I am the watchman,” he said.', 'you', 0, 200],
        ['They saw Mme. Dupont and Dott. Rossi.', 'Mme', 0, 100],
        ['They saw Mme. Dupont and Dott. Rossi.', 'Dott', 0, 100],
        [clause, 'roof', 250, 500],
        [clause, 'empty', 0, 100],
      ] as const) {
        const ms = await pauseAfter(text, word);
        expect(ms, `${text} ${word}`).toBeGreaterThanOrEqual(least);
        expect(ms, `${text} ${word}`).toBeLessThanOrEqual(most);
      }
    },
    5 * MINUTE,
  );

  test(
    'voices are understood as well as Martin by Whisper, and nearly as well by pocketsphinx',
    async () => {
      const sandbox = await createSandbox();
      const sentences = sentencesOf(await readFile(WORD_ERRORS, 'utf8'))
        .filter(({ readings: [reading], written }) => reading?.length === written.split(' ').length)
        .slice(0, SENTENCES);
      const martin = await errorsOf('Martin', sentences, sandbox, async (text) => {
        const file = path.join(sandbox.out, 'martin.wav');
        await runFoley(['tts', text, '--voice-name', 'Martin', '-o', file], { sandbox });
        const { channels, sampleRate } = readWav(await readFile(file));
        return { samples: channels[0] ?? new Float32Array(), sampleRate };
      });
      for (const voice of ['af_heart', 'af_bella', 'am_michael', 'bf_emma']) {
        const engine = kokoro();
        await engine.greet();
        const errors = await errorsOf(voice, sentences, sandbox, async (text) => {
          const { samples } = await engine.speak(text, voice);
          return { samples: floats(samples), sampleRate: RATE };
        });
        await engine.end();
        expect(errors.whisper, voice).toBeLessThanOrEqual(martin.whisper + MARGIN_PERCENT.whisper);
        // Pocketsphinx knows American English only.
        if (voice.startsWith('b')) continue;
        const most = martin.pocketsphinx + MARGIN_PERCENT.pocketsphinx;
        expect(errors.pocketsphinx, voice).toBeLessThanOrEqual(most);
      }
    },
    60 * MINUTE,
  );
});

/** Speaks the sentences; returns the percentage of their words that each recognizer hears wrong. */
async function errorsOf(
  name: string,
  sentences: readonly Sentence[],
  sandbox: Sandbox,
  speak: (text: string) => Promise<{ samples: Float32Array; sampleRate: number }>,
): Promise<Record<keyof typeof RECOGNIZERS, number>> {
  const folder = path.join(sandbox.root, `heard-${name}`);
  await mkdir(folder);
  const files: string[] = [];
  for (const [index, { written }] of sentences.entries()) {
    const { samples, sampleRate } = prepared(await speak(written));
    const file = path.join(folder, `${index}.wav`);
    await writeFile(file, writeWav(samples, sampleRate));
    files.push(file);
  }
  const percent = { pocketsphinx: Number.NaN, whisper: Number.NaN };
  for (const recognizer of ['pocketsphinx', 'whisper'] as const) {
    const { requirements, script } = RECOGNIZERS[recognizer];
    const python = await installPythonTools(path.join(PYTHON_FILES, requirements));
    const command = [path.join(PYTHON_FILES, script)];
    const { stdout } = await execa(path.join(python, 'python'), command, {
      input: files.join('\n'),
    });
    const { errors, words } = countWordErrors(sentences, stdout.split('\n'));
    percent[recognizer] = (100 * errors) / words;
    const share = `${errors} of ${words} words wrong (${percent[recognizer].toFixed(1)} %)`;
    process.stdout.write(`${name}, heard by ${recognizer}: ${share}\n`);
  }
  return percent;
}

function floats(samples: Int16Array): Float32Array {
  return Float32Array.from(samples, (sample) => sample / 32_768);
}
