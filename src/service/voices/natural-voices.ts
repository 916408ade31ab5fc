import type { EngineRegistry, VoiceOfEngine } from '../engine/registry.ts';
import type { EngineRequest, SpeechEngine } from '../engine/speech-engine.ts';
import { EngineError } from '../engine/speech-engine.ts';
import type { Listener, Speech } from './listen/listening-thread.ts';
import type { VoiceProfile } from './listen/voice-analyser.ts';
import { shapeSpeech } from './shape-speech.ts';
import type { EngineSource } from './voices.ts';

/** Who listens, and for how long somebody waits for it. */
export interface Measuring {
  readonly listener: Listener;
  readonly signal: AbortSignal;
}

/** A voice of an engine, and what it is like by itself. */
export interface MeasuredVoice extends VoiceOfEngine {
  readonly natural: VoiceProfile;
}

/** More voices than this take longer to be measured than they are worth. */
const MOST_VOICES = 6;

/** The voices of the engines that can be made others; each is measured once. */
export class NaturalVoices {
  readonly #engines: EngineRegistry;
  readonly #measured = new Map<string, VoiceProfile | undefined>();

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
   * Those that speak a language and have a pitch that can be told.
   * @throws EngineError when an engine fails, and what listening throws
   */
  async of(language: string, measuring: Measuring): Promise<readonly MeasuredVoice[]> {
    const voices = this.#movable().filter(({ voice }) => isSameLanguage(voice.language, language));
    const found: MeasuredVoice[] = [];
    for (const voice of voices.slice(0, MOST_VOICES)) {
      const natural = await this.#natural(voice, measuring);
      if (natural !== undefined) found.push({ ...voice, natural });
    }
    return found;
  }

  #movable(): readonly VoiceOfEngine[] {
    return this.#engines.all().filter(({ voice }) => voice.pitch);
  }

  async #natural(voice: VoiceOfEngine, measuring: Measuring): Promise<VoiceProfile | undefined> {
    const name = `${voice.engine.name}\0${voice.voice.id}`;
    if (!this.#measured.has(name)) this.#measured.set(name, await measure(voice, {}, measuring));
    return this.#measured.get(name);
  }
}

/**
 * What a voice of an engine is like when it is shaped so; nothing where no voice is heard in it.
 * @throws EngineError when the engine fails, and what listening throws
 */
export async function measure(
  { engine, voice }: VoiceOfEngine,
  shape: Partial<EngineSource>,
  { listener, signal }: Measuring,
): Promise<VoiceProfile | undefined> {
  const { pitch = 0, speed = 1 } = shape;
  const request = { text: sampleText(voice.language), voice: voice.id, speed, pitch };
  const speech = await sampleSpeech(shapeSpeech(engine, shape), request, signal);
  return speech === undefined ? undefined : listener.hearSamples(speech, signal);
}

/** Whether two codes name the same language, whatever the region. */
export function isSameLanguage(one: string, other: string): boolean {
  return primarySubtag(one) === primarySubtag(other);
}

function primarySubtag(code: string): string {
  return (code.split(/[-_]/)[0] ?? '').toLowerCase();
}

/** Sentences as most of what is said: short statements, whose pitch falls from beginning to end. */
const ENGLISH =
  'Good morning, everybody. The old man loved the yellow lemon. Nobody would be there before nine. ' +
  'Hello from me. A large dog ran along the road, and I followed it.';
/** Every voice of every language can say these. */
const NUMBERS = '12, 34, 56, 78, 90, 21, 43, 65, 87, 109, 11, 22, 33, 44.';

/** What a voice of this language says to be measured. */
function sampleText(language: string): string {
  return /^en\b/i.test(language) ? ENGLISH : NUMBERS;
}

/** Speaks a text at once; nothing where the voice can say nothing of it. @throws EngineError */
export async function sampleSpeech(
  engine: SpeechEngine,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const parts: Float32Array[] = [];
  let sampleRate = 0;
  try {
    for await (const chunk of engine.synthesize(request, signal)) {
      parts.push(chunk.samples);
      sampleRate = chunk.sampleRate;
    }
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'unspeakable') return undefined;
    throw error;
  }
  const samples = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return { samples, sampleRate };
}
