import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { driveEngine, type DrivenEngine } from '../drive-engine.ts';
import { expectTimedWords, FRAMES, modelFolder } from '../stand-in.ts';
import { FRAME_SAMPLES, standInDescription, standInModel } from './stand-in.ts';

const ENGINE = fileURLToPath(new URL('../../../engines/piper/engine.mjs', import.meta.url));
const RATE = 22_050;
const VOICE = 'en_US-one-medium';

/** Duration of an id, in milliseconds. */
const SYMBOL_MS = (FRAMES * FRAME_SAMPLES * 1000) / RATE;

async function piper(folder?: string): Promise<DrivenEngine> {
  return driveEngine(ENGINE, ['--model-folder', folder ?? (await standInFolder({ [VOICE]: {} }))]);
}

async function greeted(folder?: string): Promise<DrivenEngine> {
  const engine = await piper(folder);
  await engine.greet();
  return engine;
}

describe('the greeting of the Piper engine', () => {
  it('offers each model of the folder that has a description', async () => {
    const folder = await standInFolder({
      [VOICE]: {},
      'de_DE-two-x_low': {
        description: standInDescription({
          audio: { sample_rate: 16_000 },
          espeak: { voice: 'de' },
          language: undefined,
        }),
      },
      'uk_UA-three-x_low': {
        description: standInDescription({ phoneme_type: 'text', language: { code: 'uk_UA' } }),
      },
      'sr_RS-four-low': { description: standInDescription({ language: { code: 'sr_RS' } }) },
      'en_US-five-low': { description: undefined },
    });
    const engine = await piper(folder);
    expect(await engine.greet()).toEqual({
      type: 'hello',
      protocol: 2,
      name: 'piper',
      version: '1.0.0',
      license: 'GPL-3.0-or-later',
      models: [{ id: 'local-piper', name: 'Piper' }],
      controls: ['speed'],
      maxConcurrent: 1,
      voices: [
        voice('de_DE-two-x_low', 'de-DE', { sampleRate: 16_000 }),
        voice(VOICE, 'en-US'),
        voice('sr_RS-four-low', 'sr-RS', { scripts: ['Latn', 'Cyrl'] }),
        voice('uk_UA-three-x_low', 'uk-UA', { scripts: undefined }),
      ],
    });
  });

  it('offers each speaker of a model, by name or else by number', async () => {
    const folder = await standInFolder({
      many: {
        model: standInModel({ speakers: 3 }),
        description: standInDescription({
          num_speakers: 3,
          speaker_id_map: { p225: 0, 'Ann Ó': 1 },
        }),
      },
    });
    const { voices } = await (await piper(folder)).greet();
    expect(voices).toEqual(['many+p225', 'many+1', 'many+2'].map((id) => voice(id, 'en-US')));
  });

  it('leaves out voices that it cannot speak, and says why on stderr', async () => {
    const folder = await standInFolder({
      [VOICE]: {},
      'zh_CN-six-medium': { description: standInDescription({ phoneme_type: 'pinyin' }) },
      'en_US-seven-low': { description: standInDescription({ phoneme_id_map: { a: [1] } }) },
      'en_US-eight-low': { description: {} },
    });
    const engine = await piper(folder);
    expect((await engine.greet())['voices']).toHaveLength(1);
    expect(engine.stderr()).toBe(
      'en_US-eight-low.onnx: audio.sample_rate is missing\n' +
        'en_US-seven-low.onnx: phoneme_id_map has no ^\n' +
        'zh_CN-six-medium.onnx: phoneme_type pinyin is not supported\n',
    );
  });

  it.each([
    ['the folder is not named', async () => [], '--model-folder is missing'],
    [
      'the folder has no voice',
      async () => ['--model-folder', await standInFolder({})],
      'no Piper',
    ],
    [
      'the model is damaged',
      async () => [
        '--model-folder',
        await standInFolder({ [VOICE]: { model: Buffer.alloc(99, 255) } }),
      ],
      'not an ONNX model',
    ],
    [
      'the model tells no durations',
      async () => [
        '--model-folder',
        await standInFolder({ [VOICE]: { model: standInModel({ durations: 'Floor' }) } }),
      ],
      '0 nodes of type Ceil',
    ],
  ])('is an error when %s', async (_, args, message) => {
    const engine = driveEngine(ENGINE, await args());
    expect(await engine.greet()).toEqual({
      type: 'error',
      message: expect.stringContaining(message),
    });
  });
});

function voice(id: string, language: string, changes: object = {}): object {
  return { id, language, sampleRate: RATE, scripts: ['Latn'], words: true, ...changes };
}

describe('the speech of the Piper engine', () => {
  it('comes with a time for every word, in order and within the audio', async () => {
    const engine = await greeted();
    const text = 'Hello there, the end\nof the “long” day. It is 5 o’clock 🙂 now!';
    await expectTimedWords(engine, { text, voice: VOICE, sampleRate: RATE });
  });

  it('places words by the durations of their symbols', async () => {
    const engine = await greeted();
    const { samples, words } = await engine.speak('Hi, you.', VOICE);
    // ^ _ | h _ ˈ _ a _ ɪ _ | , _ space _ | j _ ˈ _ u _ ː _ | . _ $
    expect(words).toEqual([
      { start: 0, end: 2, startMs: at(2), endMs: at(10) },
      { start: 4, end: 7, startMs: at(14), endMs: at(22) },
    ]);
    expect(samples).toHaveLength(25 * FRAMES * FRAME_SAMPLES);
  });

  it('starts a word with the space before it if there is no pause', async () => {
    const engine = await greeted();
    const { words } = await engine.speak('Hi world.', VOICE);
    // ^ _ | h _ ˈ _ a _ ɪ _ | space _ | w _ …
    expect(words).toMatchObject([
      { start: 0, end: 2, startMs: at(2), endMs: at(10) },
      { start: 3, end: 8, startMs: at(10) },
    ]);
  });

  it('is the same for the same request, whatever was spoken before', async () => {
    const engine = await greeted();
    const first = await engine.speak('Once upon a time.', VOICE);
    await engine.speak('Something else.', VOICE);
    expect((await engine.speak('Once upon a time.', VOICE)).samples).toEqual(first.samples);
    expect((await (await greeted()).speak('Once upon a time.', VOICE)).samples).toEqual(
      first.samples,
    );
  });

  it('is slower and faster on request', async () => {
    const engine = await greeted();
    const lengthOf = async (more: object) =>
      (await engine.speak('Hello there', VOICE, more)).samples.length;
    const usual = await lengthOf({});
    // Four frames become 10 and 2: the engine allows for the rounding of real models.
    expect(await lengthOf({ speed: 0.5 })).toBe(usual * 2.5);
    expect(await lengthOf({ controls: { speed: 2 } })).toBe(usual / 2);
    expect(await lengthOf({ controls: { speed: 99 } })).toBe(usual / 4);
  });

  it('pauses after sentences, and longer after paragraphs', async () => {
    const engine = await greeted();
    const gapOf = async (text: string) => {
      const { words } = await engine.speak(text, VOICE);
      return (words[1]?.startMs ?? 0) - (words[0]?.endMs ?? 0);
    };
    // Period, end and start of the next sentence: . _ $ ^ _
    const between = Math.round(5 * SYMBOL_MS);
    expect(await gapOf('Yes. No.')).toBeCloseTo(between + 300, -1);
    expect(await gapOf('Yes.\nNo.')).toBeCloseTo(between + 300, -1);
    expect(await gapOf('Yes.\n \nNo.')).toBeCloseTo(between + 600, -1);
  });

  it.each([
    'It is J. Smith.',
    'It was Mme. Roux.',
    'I saw Dott. Rossi.',
    '“Who are you?” she said.',
  ])(
    'speaks a sentence with an abbreviation or a quoted question in one piece: %s',
    async (text) => {
      const engine = await greeted();
      const { words } = await engine.speak(text, VOICE);
      const gaps = words.slice(1).map(({ startMs }, index) => startMs - (words[index]?.endMs ?? 0));
      expect(Math.max(...gaps)).toBeLessThan(300);
    },
  );

  it('of a long text comes in parts that the model can speak', async () => {
    const engine = await greeted();
    const text = `${'the quick brown fox jumps over the lazy dog, and then sleeps '.repeat(10)}.`;
    const { end, words, samples } = await engine.speak(text, VOICE);
    expect(end).toEqual({ type: 'done', id: 1 });
    expect(words).toHaveLength(120);
    expect(words.at(-1)?.endMs).toBeLessThanOrEqual((samples.length * 1000) / RATE);
    for (const endless of [
      'a'.repeat(2000),
      '7'.repeat(300),
      'a. '.repeat(600),
      '\n '.repeat(9000),
    ]) {
      expect((await engine.speak(`Yes ${endless}`, VOICE)).end.type).toBe('done');
    }
  });

  it('of a voice that reads letters follows the letters, not the sounds', async () => {
    const description = standInDescription({ phoneme_type: 'text', language: { code: 'uk_UA' } });
    const engine = await greeted(await standInFolder({ letters: { description } }));
    const { samples, words } = await engine.speak('Abc ∞ DÉ', 'letters');
    // ^ _ | a _ b _ c _ | space _ | d _ e _ | . _ $, and no symbol for the accent
    expect(samples).toHaveLength(17 * FRAMES * FRAME_SAMPLES);
    expect(words).toEqual([
      { start: 0, end: 3, startMs: at(2), endMs: at(8) },
      { start: 6, end: 8, startMs: at(8), endMs: at(14) },
    ]);
  });

  it('differs between the speakers of a model', async () => {
    const description = standInDescription({ num_speakers: 2 });
    const model = standInModel({ speakers: 2 });
    const engine = await greeted(await standInFolder({ many: { model, description } }));
    const [first, second] = [
      await engine.speak('Yes', 'many+0'),
      await engine.speak('Yes', 'many+1'),
    ];
    expect(first.samples).toHaveLength(second.samples.length);
    expect(first.samples).not.toEqual(second.samples);
  });

  it('changes between more voices than stay in memory', async () => {
    const engine = await greeted(await standInFolder({ a: {}, b: {}, c: {} }));
    for (const id of ['a', 'b', 'c', 'a', 'c', 'b']) {
      expect((await engine.speak('Yes', id)).end.type, id).toBe('done');
    }
  });

  it.each(['', ' … ', '?!', 'привет'])('of %j does not exist: it is unspeakable', async (text) => {
    const engine = await greeted();
    const { end, samples } = await engine.speak(text, VOICE);
    expect(end).toMatchObject({ type: 'error', reason: 'unspeakable' });
    expect(samples).toHaveLength(0);
  });

  it('fails with a reason, and the engine continues', async () => {
    const folder = await standInFolder({
      [VOICE]: {},
      nan: { model: standInModel({ amplitude: Number.NaN }) },
      damaged: { model: Buffer.alloc(99, 255) },
      foreign: { description: standInDescription({ espeak: { voice: 'xx' } }) },
    });
    const engine = await greeted(folder);
    for (const [id, message] of [
      ['nan', 'The model gave audio that is not a number'],
      ['damaged', 'The file is not an ONNX model'],
      ['damaged', 'The file is not an ONNX model'],
      ['foreign', 'espeak-ng has no voice xx'],
      ['nobody', 'unknown voice: nobody'],
    ] as const) {
      expect((await engine.speak('Hello', id)).end, id).toMatchObject({
        type: 'error',
        reason: 'failed',
        message: expect.stringContaining(message),
      });
    }
    expect((await engine.speak('Hello', VOICE)).end.type).toBe('done');
  });

  it('ends with stdin', async () => {
    expect(await (await greeted()).end()).toBe(0);
  });
});

/** Returns the start of the symbol with this index, in milliseconds from the start of a sentence. */
function at(symbol: number): number {
  return Math.floor((symbol * FRAMES * FRAME_SAMPLES * 1000) / RATE);
}

interface StandInVoice {
  readonly model?: Buffer;
  /** Undefined for a voice without the file. */
  readonly description?: object | undefined;
}

/** Writes a folder with these voices; it is removed after the test. */
function standInFolder(voices: Readonly<Record<string, StandInVoice>>): Promise<string> {
  const written = Object.entries(voices).flatMap(([name, files]) => {
    const description = 'description' in files ? files.description : standInDescription();
    const model = [`${name}.onnx`, files.model ?? standInModel()] as const;
    if (description === undefined) return [model];
    return [model, [`${name}.onnx.json`, JSON.stringify(description)] as const];
  });
  return modelFolder(Object.fromEntries(written));
}
