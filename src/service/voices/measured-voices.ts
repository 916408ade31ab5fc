import type { EngineRegistry, VoiceOfEngine } from '../engine/registry.ts';
import { EngineError } from '../engine/speech-engine.ts';
import type { SpeechEngine } from '../engine/speech-engine.ts';
import { PitchMeter } from './listen/pitch-meter.ts';
import type { EngineSource } from './voices.ts';

/** A voice of an engine and its median pitch. */
interface MeasuredVoice extends VoiceOfEngine {
  readonly medianHz: number;
}

interface NearestVoice {
  readonly speaker: SpeechEngine;
  readonly language: string;
  readonly engine: EngineSource;
}

/** Measuring more voices than this takes longer than it is worth. */
const MOST_VOICES = 6;
/** How many semitones from its own pitch a voice is worth its right accent. */
const WORTH_OF_ACCENT = 4;

/** The engine voices whose pitch can be changed; each is measured once. */
export class MeasuredVoices {
  readonly #engines: EngineRegistry;
  readonly #medians = new Map<string, number | undefined>();

  constructor(engines: EngineRegistry) {
    this.#engines = engines;
  }

  /** Codes of the languages that a voice can be made for. */
  get languages(): readonly string[] {
    return [...new Set(this.#movable().map(({ voice }) => voice.language))];
  }

  /** Whether a voice can be made for a language; regions do not count. */
  speak(language: string): boolean {
    return this.languages.some((one) => isSameLanguage(one, language));
  }

  /**
   * Returns the voice of a language whose pitch is nearest, set to that pitch.
   * @throws EngineError when an engine fails, Error when no voice of the language can be measured
   */
  async nearest(
    { medianHz, language }: { readonly medianHz: number; readonly language: string },
    signal: AbortSignal,
  ): Promise<NearestVoice> {
    const distance = (one: MeasuredVoice): number =>
      Math.abs(semitones(medianHz, one.medianHz)) +
      (one.voice.language === language ? 0 : WORTH_OF_ACCENT);
    const [nearest] = (await this.#of(language, signal)).toSorted(
      (one, other) => distance(one) - distance(other),
    );
    if (nearest === undefined) throw new Error(`no voice of ${language} can be measured`);
    const { engine, voice } = nearest;
    const pitch = rounded(semitones(medianHz, nearest.medianHz));
    return {
      speaker: engine,
      language: voice.language,
      engine: { name: engine.name, voice: voice.id, pitch, speed: 1 },
    };
  }

  async #of(language: string, signal: AbortSignal): Promise<readonly MeasuredVoice[]> {
    const voices = this.#movable().filter(({ voice }) => isSameLanguage(voice.language, language));
    const found: MeasuredVoice[] = [];
    for (const one of voices.slice(0, MOST_VOICES)) {
      const name = `${one.engine.name}\0${one.voice.id}`;
      if (!this.#medians.has(name)) this.#medians.set(name, await measure(one, signal));
      const medianHz = this.#medians.get(name);
      if (medianHz !== undefined) found.push({ ...one, medianHz });
    }
    return found;
  }

  #movable(): readonly VoiceOfEngine[] {
    return this.#engines.all().filter(({ voice }) => voice.pitch);
  }
}

/** As many digits as make a difference that can be heard. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

function semitones(hz: number, from: number): number {
  return 12 * Math.log2(hz / from);
}

/** Whether two codes name the same language, whatever the region. */
export function isSameLanguage(one: string, other: string): boolean {
  return primarySubtag(one) === primarySubtag(other);
}

function primarySubtag(code: string): string {
  return (code.split(/[-_]/)[0] ?? '').toLowerCase();
}

/** Short statements, whose pitch falls from beginning to end, as in most of what is said. */
const ENGLISH =
  'Good morning, everybody. The old man loved the yellow lemon. Nobody would be there before nine. ' +
  'Hello from me. A large dog ran along the road, and I followed it.';
/** Every voice of every language can say these. */
const NUMBERS = '12, 34, 56, 78, 90, 21, 43, 65, 87, 109, 11, 22, 33, 44.';

/** Returns the voice's median pitch; `undefined` where it cannot be told. @throws EngineError */
async function measure(
  { engine, voice }: VoiceOfEngine,
  signal: AbortSignal,
): Promise<number | undefined> {
  const text = /^en\b/i.test(voice.language) ? ENGLISH : NUMBERS;
  const meter = new PitchMeter();
  try {
    const speech = engine.synthesize({ text, voice: voice.id, speed: 1, pitch: 0 }, signal);
    for await (const { samples, sampleRate } of speech) await meter.add(samples, sampleRate);
    return meter.median();
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'unspeakable') return undefined;
    throw error;
  } finally {
    meter.close();
  }
}
