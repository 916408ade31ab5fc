import { cp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { driveEngine, type DrivenEngine } from '../drive-engine.ts';
import { expectTimedWords, FRAMES, modelFolder } from '../stand-in.ts';
import { standInModel, COLUMNS } from './stand-in.ts';

const ROWS = 510;

const ENGINE = fileURLToPath(new URL('../../../engines/kokoro/engine.mjs', import.meta.url));
const READER = fileURLToPath(new URL('../../../dist/english-reader.cjs', import.meta.url));
const argsFor = (folder: string) => ['--model-folder', folder, '--reader', READER];
const RATE = 24_000;
const FRAME_MS = 25;

const quiet = standInVoice(() => 0.1);

async function kokoro(folder?: string): Promise<DrivenEngine> {
  return driveEngine(
    ENGINE,
    argsFor(folder ?? (await standInFolder({ af_heart: quiet, ef_dora: quiet }))),
  );
}

/** The longest run of samples without a sound. */
function longestSilence(samples: Int16Array): number {
  let [longest, run] = [0, 0];
  for (const sample of samples) {
    run = Math.abs(sample) < 2 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

const isOwnFile = (file: string): boolean => !file.includes('node_modules');

const peakOf = (samples: Int16Array) => Math.max(...samples.map(Math.abs));

describe('ONNX Runtime', () => {
  it('sends no telemetry, and stores no id of the computer', async () => {
    const folder = await standInFolder({ af_heart: quiet });
    const home = path.join(folder, 'home');
    await mkdir(home);
    const env = { HOME: home, XDG_CACHE_HOME: undefined, ORT_DISABLE_TELEMETRY: undefined };
    const engine = driveEngine(ENGINE, argsFor(folder), env);
    await engine.greet();
    expect((await engine.speak('Hello.', 'af_heart')).end.type).toBe('done');
    await engine.end();
    expect(await readdir(home)).toEqual([]);
  });
});

describe('the greeting of the Kokoro engine', () => {
  it('offers the voices whose files are there, with their languages', async () => {
    const names = ['af_heart', 'am_puck', 'bf_emma', 'ef_dora', 'ff_siwis', 'hm_psi', 'if_sara'];
    const folder = await standInFolder(
      Object.fromEntries([...names, 'pm_alex', 'jf_alpha', 'zm_yunxi'].map((one) => [one, quiet])),
    );
    const hello = await (await kokoro(folder)).greet();
    expect(hello).toMatchObject({
      type: 'hello',
      protocol: 2,
      license: 'Apache-2.0 AND GPL-3.0-or-later',
      models: [{ id: 'local-kokoro', name: 'Kokoro 82M' }],
      controls: ['speed'],
      maxConcurrent: 1,
    });
    const voices = hello['voices'] as { id: string; language: string; words: boolean }[];
    expect(voices.map(({ id, language }) => [id, language])).toEqual([
      ['af_heart', 'en-US'],
      ['am_puck', 'en-US'],
      ['bf_emma', 'en-GB'],
      ['ef_dora', 'es'],
      ['ff_siwis', 'fr'],
      ['hm_psi', 'hi'],
      ['if_sara', 'it'],
      ['pm_alex', 'pt-BR'],
    ]);
    expect(voices[0]).toEqual({
      id: 'af_heart',
      language: 'en-US',
      sampleRate: RATE,
      words: true,
      phonemes: expect.stringContaining('ə'),
    });
  });

  it('has no GPL for American voices, which it speaks without espeak-ng', async () => {
    const folder = await standInFolder({ af_heart: quiet });
    const adapters = path.join(folder, 'engines');
    for (const name of ['kokoro', 'parts']) {
      const from = path.join(path.dirname(ENGINE), '..', name);
      await cp(from, path.join(adapters, name), { recursive: true, filter: isOwnFile });
    }
    const modules = path.join(adapters, 'node_modules');
    await mkdir(modules);
    const from = path.join(path.dirname(ENGINE), '../parts/node_modules/onnxruntime-node');
    await symlink(from, path.join(modules, 'onnxruntime-node'), 'junction');
    const program = path.join(adapters, 'kokoro/engine.mjs');
    const engine = driveEngine(program, argsFor(folder));
    expect(await engine.greet()).toMatchObject({ type: 'hello', license: 'Apache-2.0' });
    expect((await engine.speak('Hello.', 'af_heart')).end.type).toBe('done');
    await writeFile(path.join(folder, 'voices/ff_siwis.bin'), quiet);
    expect(await driveEngine(program, argsFor(folder)).greet()).toMatchObject({
      type: 'error',
      message: expect.stringContaining('espeak-ng is not installed'),
    });
  });

  it('reports the loading to a host of version 2 only', async () => {
    const folder = await standInFolder({ af_heart: quiet });
    const newer = await kokoro(folder);
    newer.send({ type: 'hello', protocol: 1, maxProtocol: 2 });
    expect(await newer.next()).toMatchObject({ type: 'loading', message: 'loading the phonemes' });
    const older = await kokoro(folder);
    older.send({ type: 'hello', protocol: 1 });
    const hello = await older.next();
    expect(hello).toMatchObject({ type: 'hello', protocol: 1 });
    expect(Object.keys(hello)).not.toContain('models');
  });

  it.each([
    ['the folder is not named', async () => [], '--model-folder is missing'],
    ['there are no voices', async () => argsFor(await standInFolder({})), 'no voices'],
    [
      'the model is missing',
      async () => {
        const folder = await standInFolder({ af_heart: quiet });
        await rm(path.join(folder, 'kokoro-v1.0.int8.onnx'));
        return argsFor(folder);
      },
      'kokoro-v1.0.int8.onnx',
    ],
    [
      'the model is damaged',
      async () => argsFor(await standInFolder({ af_heart: quiet }, Buffer.alloc(99, 255))),
      'not an ONNX model',
    ],
    [
      'the model tells no durations',
      async () =>
        argsFor(await standInFolder({ af_heart: quiet }, standInModel({ durations: 'Max' }))),
      '0 nodes of type Clip',
    ],
  ])('is an error when %s', async (_, args, message) => {
    const engine = driveEngine(ENGINE, await args());
    expect(await engine.greet()).toEqual({
      type: 'error',
      message: expect.stringContaining(message),
    });
  });
});

describe('the speech of the Kokoro engine', () => {
  it('comes with a time for every word, in order and within the audio', async () => {
    const engine = await kokoro();
    await engine.greet();
    const text = 'Hello there, the end of the “long” day. It is 5 o’clock 🙂 now!';
    await expectTimedWords(engine, { text, voice: 'af_heart', sampleRate: RATE });
  });

  it.each(['af_heart', 'bf_emma', 'ff_siwis'])('of %s has given phonemes', async (voice) => {
    const engine = await kokoro(await standInFolder({ [voice]: quiet }));
    await engine.greet();
    const lengthWith = async (phonemes: string) => {
      const pronunciations = [{ start: 10, end: 13, phonemes }];
      const { end, words } = await engine.speak('Tell. —: "Tom"!', voice, { pronunciations });
      expect(end.type).toBe('done');
      expect(words.map(({ start }) => start)).toEqual([0, 10]);
      return (words[1]?.endMs ?? 0) - (words[1]?.startMs ?? 0);
    };
    // Each sound of this model has 100 ms. The stress mark is one of them.
    expect((await lengthWith('mamamam')) - (await lengthWith('mam'))).toBeCloseTo(400, -2);
  });

  it('places words by the durations of their sounds', async () => {
    const engine = await kokoro();
    await engine.greet();
    const { words } = await engine.speak('Hi you.', 'af_heart');
    // h ˈ I | space: one symbol lasts four frames. Words are heard three frames before, and end 1.5 frames before.
    const sound = FRAMES * FRAME_MS;
    const [first, second] = words;
    expect(first).toEqual({ start: 0, end: 2, startMs: sound - 75, endMs: 4 * sound - 37 });
    expect(second).toMatchObject({ startMs: 5 * sound - 75 });
  });

  it('uses the style for the number of sounds, at the level of all voices', async () => {
    // A row that is not used would be silent.
    const folder = await standInFolder({ af_heart: standInVoice((row) => (row === 3 ? 0.1 : 0)) });
    const engine = await kokoro(folder);
    await engine.greet();
    const { samples } = await engine.speak('Hi', 'af_heart');
    expect(peakOf(samples)).toBeGreaterThan(1000);
  });

  it('is slower and faster on request, for hosts of both versions', async () => {
    const engine = await kokoro();
    await engine.greet();
    const lengthOf = async (more: object) =>
      (await engine.speak('Hello there', 'af_heart', more)).samples.length;
    const usual = await lengthOf({});
    expect(await lengthOf({ speed: 0.5 })).toBe(usual * 2);
    expect(await lengthOf({ controls: { speed: 2 } })).toBe(usual / 2);
    expect(await lengthOf({ controls: { speed: 9 } })).toBe(usual / 2);
  });

  it('of a long text comes in chunks that the model can speak', async () => {
    const engine = await kokoro();
    await engine.greet();
    const text = 'The quick brown fox jumps over the lazy dog, and then it sleeps. '.repeat(30);
    const { end, words, samples } = await engine.speak(text, 'af_heart');
    expect(end).toEqual({ type: 'done', id: 1 });
    expect(words).toHaveLength(390);
    expect(words.at(-1)?.endMs).toBeLessThanOrEqual((samples.length * 1000) / RATE);
    const { end: endless } = await engine.speak('a'.repeat(5000), 'af_heart');
    expect(endless).toEqual({ type: 'done', id: 2 });
  });

  it.each([
    'Chapter one',
    'Chapter one.',
    'It was the end of a long and very quiet day in the harbour.',
  ])('pauses 0.6 s after the paragraph %j, and 0.25 s after a sentence', async (paragraph) => {
    const engine = await kokoro();
    await engine.greet();
    const next = 'The quick brown fox jumps over the lazy dog, and then it sleeps.';
    const pauseIn = async (text: string) => {
      const { samples } = await engine.speak(text, 'af_heart');
      return longestSilence(samples) / (RATE / 1000);
    };
    for (const gap of ['\n\n', '\r\n\r\n', '\n \n\n']) {
      const ms = await pauseIn(`${paragraph}${gap}${next}`);
      expect(ms).toBeGreaterThan(595);
      expect(ms).toBeLessThan(665);
    }
    const long = 'It was the end of a long and very quiet day in the harbour. ';
    expect(await pauseIn(`${long}\n${next}`)).toBeLessThan(315);
  });

  it.each([
    ['He laughed. She did not.', 310],
    ['“Who goes there?” he called. “Halt!”', 310],
    ['The Dra. saw it and went to the watchman at the gate of the garden', 0],
    ['“Who are you?” she asked the watchman at the gate of the garden', 100],
  ])(
    'pauses between short sentences, not at titles and quoted questions: %s',
    async (text, wantedMs) => {
      const engine = await kokoro();
      await engine.greet();
      const { samples, words } = await engine.speak(text, 'af_heart');
      const ms = longestSilence(samples) / (RATE / 1000);
      expect(ms).toBeGreaterThanOrEqual(wantedMs);
      expect(ms).toBeLessThan(wantedMs + 10);
      const gaps = words.slice(1).map(({ startMs }, at) => startMs - (words[at]?.endMs ?? 0));
      expect(Math.max(...gaps)).toBeGreaterThanOrEqual(wantedMs);
      const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(times.at(-1)).toBeLessThanOrEqual((samples.length * 1000) / RATE);
    },
  );

  it('pauses half as long at twice the speed', async () => {
    const engine = await kokoro();
    await engine.greet();
    const { samples } = await engine.speak('He laughed. She did not.', 'af_heart', { speed: 2 });
    expect(longestSilence(samples) / (RATE / 1000)).toBeCloseTo(155, -1);
  });

  it('works with models that name their inputs as other exports do', async () => {
    const folder = await standInFolder({ af_heart: quiet }, standInModel({ ids: 'input_ids' }));
    const engine = await kokoro(folder);
    await engine.greet();
    expect((await engine.speak('Hello', 'af_heart')).samples.length).toBeGreaterThan(1000);
  });

  it('ends at once when it is cancelled, and the next request is spoken', async () => {
    const engine = await kokoro();
    await engine.greet();
    const text = 'One more sentence for this text. '.repeat(40);
    engine.send({ type: 'speak', id: 7, text, voice: 'af_heart' });
    engine.send({ type: 'cancel', id: 7 });
    engine.send({ type: 'cancel', id: 7 });
    expect(await engine.next()).toEqual({ type: 'done', id: 7 });
    const { end, words } = await engine.speak('Hello', 'ef_dora');
    expect(end).toEqual({ type: 'done', id: 1 });
    expect(words).toHaveLength(1);
  });

  it.each(['', ' … ', '?!'])('of %j does not exist: the text is unspeakable', async (text) => {
    const engine = await kokoro();
    await engine.greet();
    const { end, samples } = await engine.speak(text, 'af_heart');
    expect(end).toMatchObject({ type: 'error', reason: 'unspeakable' });
    expect(samples).toHaveLength(0);
  });

  it('fails with a reason when the model gives no numbers, and the engine continues', async () => {
    const folder = await standInFolder({ af_heart: standInVoice(() => NaN), ef_dora: quiet });
    const engine = await kokoro(folder);
    await engine.greet();
    expect((await engine.speak('Hello', 'af_heart')).end).toMatchObject({
      type: 'error',
      reason: 'failed',
      message: 'The model gave audio that is not a number',
    });
    expect(engine.stderr()).toContain('not a number');
    expect((await engine.speak('Hola', 'ef_dora')).end.type).toBe('done');
  });

  it('fails with a reason for an unknown voice and for a damaged voice', async () => {
    const folder = await standInFolder({ af_heart: quiet });
    await writeFile(path.join(folder, 'voices', 'af_sky.bin'), quiet.subarray(4));
    expect(await readdir(path.join(folder, 'voices'))).toHaveLength(2);
    const engine = await kokoro(folder);
    await engine.greet();
    expect((await engine.speak('Hello', 'nobody')).end).toMatchObject({
      message: 'unknown voice: nobody',
    });
    expect((await engine.speak('Hello', 'af_sky')).end).toMatchObject({
      message: expect.stringContaining('af_sky is damaged'),
    });
  });

  it('ends with stdin', async () => {
    const engine = await kokoro();
    await engine.greet();
    expect(await engine.end()).toBe(0);
  });

  it('is killed with stdin while the model loads: ONNX Runtime would abort', async () => {
    const engine = await kokoro();
    engine.send({ type: 'hello', protocol: 1, maxProtocol: 2 });
    while ((await engine.next())['message'] !== 'loading the model');
    expect(await engine.end()).toBeNull();
    expect(engine.stderr()).toBe('');
  });
});

/** Returns the styles of a voice: the sum of each row is the amplitude of its tone. */
function standInVoice(amplitudeOf: (row: number) => number): Buffer {
  const numbers = new Float32Array(ROWS * COLUMNS);
  for (let row = 0; row < ROWS; row += 1) numbers[row * COLUMNS] = amplitudeOf(row);
  return Buffer.from(numbers.buffer);
}

/** Writes a folder of models with these voices; it is removed after the test. */
async function standInFolder(
  voices: Readonly<Record<string, Buffer>>,
  model = standInModel(),
): Promise<string> {
  const styles = Object.entries(voices).map(([name, voice]) => [`voices/${name}.bin`, voice]);
  const folder = await modelFolder({
    'kokoro-v1.0.int8.onnx': model,
    ...Object.fromEntries(styles),
  });
  await mkdir(path.join(folder, 'voices'), { recursive: true });
  return folder;
}
