import { expect, test } from 'vitest';
import type {
  EngineRequest,
  EngineVoice,
  SpeechChunk,
  SpeechEngine,
} from '../../../src/service/engine/speech-engine.ts';
import { withWordTimes } from '../../../src/service/engine/word-times.ts';
import { OTHER_TEXT, speakWords, TEXT } from '../../alignment/spoken.ts';

interface Scripted extends SpeechEngine {
  readonly requests: EngineRequest[];
}

/** An engine that speaks what it is given, with word times if its voices have any. */
function engineOf(
  voice: Partial<EngineVoice>,
  speak: (request: EngineRequest) => ReturnType<typeof speakWords>,
): Scripted {
  const requests: EngineRequest[] = [];
  return {
    name: 'scripted',
    requests,
    voices: [{ id: 'one', language: 'en-US', sampleRate: 16_000, pitch: false, ...voice }],
    warmUp: async () => undefined,
    close: async () => undefined,
    async *synthesize(request) {
      requests.push(request);
      const { samples, sampleRate, words } = speak(request);
      for (let at = 0; at < samples.length; at += 20_000) {
        yield { samples: samples.subarray(at, at + 20_000), sampleRate };
      }
      if (voice.words === true) yield { samples: new Float32Array(0), sampleRate, words };
    },
  };
}

function reference(language = 'en-US'): Scripted {
  return engineOf({ id: 'reference', language, words: true }, ({ text }) => speakWords(text));
}

const REQUEST = { text: TEXT, voice: 'one', speed: 1, pitch: 0 };

async function chunksOf(engine: SpeechEngine, request: EngineRequest): Promise<SpeechChunk[]> {
  const chunks: SpeechChunk[] = [];
  for await (const chunk of engine.synthesize(request, new AbortController().signal)) {
    chunks.push(chunk);
  }
  return chunks;
}

test('a voice without word times gets them after its last samples', async () => {
  const truth = speakWords(TEXT, 'awb');
  const engine = withWordTimes(
    engineOf({}, () => truth),
    [reference()],
  );
  expect(engine.voices).toMatchObject([{ id: 'one', words: true }]);
  const chunks = await chunksOf(engine, { ...REQUEST, isTimed: true });
  const words = chunks.at(-1)?.words ?? [];
  expect(chunks.flatMap((chunk) => chunk.words ?? [])).toEqual(words);
  expect(words.length).toBeGreaterThan(0.95 * truth.words.length);
  const errors = words.map(({ start, startMs }) => {
    const said = truth.words.find((word) => word.start === start);
    return Math.abs(startMs - (said?.startMs ?? Infinity));
  });
  expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(40);
});

test('speech of another text has no word times', async () => {
  const engine = withWordTimes(
    engineOf({}, () => speakWords(OTHER_TEXT, 'rms')),
    [reference()],
  );
  const chunks = await chunksOf(engine, { ...REQUEST, isTimed: true });
  const words = chunks.flatMap((chunk) => chunk.words ?? []);
  expect(words.length).toBeLessThan(10);
});

test('a request without word times does not use the other engine', async () => {
  const other = reference();
  const engine = withWordTimes(
    engineOf({}, () => speakWords(TEXT, 'awb')),
    [other],
  );
  const chunks = await chunksOf(engine, REQUEST);
  expect(chunks.flatMap((chunk) => chunk.words ?? [])).toEqual([]);
  expect(other.requests).toEqual([]);
});

test('speech has no word times if the other engine fails', async () => {
  const failing = engineOf({ id: 'reference', words: true }, () => {
    throw new Error('no voice data');
  });
  const engine = withWordTimes(
    engineOf({}, () => speakWords(TEXT, 'awb')),
    [failing],
  );
  const chunks = await chunksOf(engine, { ...REQUEST, isTimed: true });
  expect(chunks.length).toBeGreaterThan(1);
  expect(chunks.flatMap((chunk) => chunk.words ?? [])).toEqual([]);
});

test.each([
  ['whose voices have word times', { words: true }, 'en-US'],
  ['in a language without a reference', { language: 'de' }, 'en-US'],
])('an engine %s stays as it is', (_, voice, language) => {
  const engine = engineOf(voice, () => speakWords(TEXT));
  expect(withWordTimes(engine, [reference(language)])).toBe(engine);
});
