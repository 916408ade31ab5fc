import { REFERENCE_VOICE } from './hibari/cast.ts';
import type {
  EngineRequest,
  EngineVoice,
  SpeechChunk,
  SpeechEngine,
  WordMark,
} from './speech-engine.ts';

/**
 * Adds word times to those voices of an engine that report none. A reference voice, which reports word times, speaks
 * the same text. foley compares the sound of both voices to find the words in the speech of the engine. The last chunk
 * contains the times of all words that were found.
 * @param references engines whose voices may serve as reference voices
 */
export function withWordTimes(
  engine: SpeechEngine,
  references: readonly SpeechEngine[],
): SpeechEngine {
  const speakers = new Map(
    engine.voices.flatMap((voice) => {
      const reference = voice.words === true ? undefined : findReference(voice, references);
      return reference === undefined ? [] : [[voice.id, reference] as const];
    }),
  );
  if (speakers.size === 0) return engine;
  return {
    ...engine,
    voices: engine.voices.map((voice) =>
      speakers.has(voice.id) ? { ...voice, words: true } : voice,
    ),
    synthesize(request, signal) {
      const reference = speakers.get(request.voice);
      if (request.isTimed !== true || reference === undefined) {
        return engine.synthesize(request, signal);
      }
      return speakTimed({ engine, reference, request }, signal);
    },
  };
}

interface ReferenceWords {
  readonly engine: SpeechEngine;
  readonly voice: string;
}

function findReference(
  { language }: EngineVoice,
  references: readonly SpeechEngine[],
): ReferenceWords | undefined {
  const voices = references.flatMap((engine) =>
    engine.voices
      .filter((voice) => voice.words === true && baseOf(voice.language) === baseOf(language))
      .map(({ id }) => ({ engine, voice: id })),
  );
  return voices.find(({ voice }) => voice === REFERENCE_VOICE) ?? voices[0];
}

function baseOf(language: string): string {
  return language.split('-', 1)[0]?.toLowerCase() ?? '';
}

interface TimedSpeech {
  readonly engine: SpeechEngine;
  readonly reference: ReferenceWords;
  readonly request: EngineRequest;
}

async function* speakTimed(
  { engine, reference, request }: TimedSpeech,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  const [{ BandMeter }, { measureReference }] = await Promise.all([
    import('../../alignment/features.ts'),
    import('../../alignment/measure-sound.ts'),
  ]);
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const { client, text, textNormalization } = request;
  const spoken: EngineRequest = {
    text,
    voice: reference.voice,
    speed: 1,
    pitch: 0,
    isTimed: true,
    ...(client === undefined ? {} : { client }),
    ...(textNormalization === undefined ? {} : { textNormalization }),
  };
  // The reference is spoken at the same time. Without it, the speech has no word times.
  const measured = measureReference(reference.engine.synthesize(spoken, either)).catch(
    () => undefined,
  );
  let meter: InstanceType<typeof BandMeter> | undefined;
  let sampleRate = 0;
  try {
    for await (const chunk of engine.synthesize(request, signal)) {
      ({ sampleRate } = chunk);
      meter ??= new BandMeter(sampleRate);
      meter.push(chunk.samples);
      yield chunk;
    }
    const found = await measured;
    signal.throwIfAborted();
    if (meter === undefined || found === undefined) return;
    const { alignWords } = await import('../../alignment/align-words.ts');
    const placed = await alignWords(meter.finish(), found, signal);
    const words = found.words.flatMap(({ end, start }, index): WordMark[] => {
      const place = placed[index];
      return place === undefined
        ? []
        : [{ start, end, startMs: place.startMs, endMs: place.endMs }];
    });
    if (words.length > 0) yield { samples: new Float32Array(0), sampleRate, words };
  } finally {
    ended.abort();
  }
}
