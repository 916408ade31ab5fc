import { shapeSpeech } from '../catalogue/shape-speech.ts';
import type { EngineSource } from '../catalogue/voices.ts';
import type { EngineRegistry, VoiceOfEngine } from '../engine/registry.ts';
import type { Listener } from '../reference-audio/listener.ts';
import type { VoiceProfile } from '../reference-audio/voice-profile.ts';
import { sampleSpeech, sampleText } from './sample-speech.ts';

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
