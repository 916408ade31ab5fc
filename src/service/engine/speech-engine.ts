import { SPEECH_MAX_SECONDS } from '../../contract/limits.ts';

export interface EngineVoice {
  /** Id within the engine, such as `slt`. */
  readonly id: string;
  /** Display name, default the id. */
  readonly name?: string;
  /** Language code (BCP 47). */
  readonly language: string;
  readonly sampleRate: number;
  /** Whether the voice supports `EngineRequest.pitch`; other voices ignore that field. */
  readonly pitch: boolean;
  /** Whether the engine reports the time of every word in `SpeechChunk.words`. */
  readonly words?: boolean;
}

/** A text and how to speak it; an engine clamps `speed` and `pitch` to the limits of the engine. */
export interface EngineRequest {
  readonly text: string;
  /** An `EngineVoice.id` of the engine. */
  readonly voice: string;
  /** Multiplies the default speed of the voice. */
  readonly speed: number;
  /** Semitones added to the default pitch of the voice. */
  readonly pitch: number;
  /** Whether the caller needs `SpeechChunk.words` and `SpeechChunk.span`. */
  readonly isTimed?: boolean;
  /** Account of the request; engines serve accounts in turn. */
  readonly client?: string;
  /** Whether a listener is waiting; if so, the first chunk is prioritized. Default false. */
  readonly isInteractive?: boolean;
}

/** The speech of one sentence or clause, and the pause after it. */
export interface SpeechChunk {
  /** Mono samples in -1..1; their average level is about -20 dB of full scale for every voice. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** The next words of the text. Their samples may be in another chunk; a chunk may have words and no samples. */
  readonly words?: readonly WordMark[];
  /** The part of the text that the samples speak, if the engine knows it before the words. */
  readonly span?: TextSpan;
}

/** A range of code points in the text of the request; `end` is exclusive. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** The time of a word of the text. */
export interface WordMark extends TextSpan {
  /** Milliseconds from the beginning of the speech. */
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpeechEngine {
  readonly name: string;
  readonly voices: readonly EngineVoice[];
  /**
   * Starts threads or processes in the background, so that the first request is fast. Never rejects: the first request
   * reports a failure. Does not keep the process alive.
   */
  warmUp(): Promise<void>;
  /**
   * Speaks the text chunk by chunk, at most one ahead of the consumer. On abort the iterator rejects at once with the
   * reason of the signal. Markup in the text is spoken or left out, never interpreted.
   * @throws EngineError when the engine fails, or the voice cannot speak any part of the text
   */
  synthesize(request: EngineRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>;
  /** Ends the threads and processes of the engine; running requests fail. */
  close(): Promise<void>;
}

/** Maximum length in UTF-16 units of a text that is synthesized at once: a sentence, or a clause of a long sentence. */
export const LONGEST_STRETCH = 240;

/** Enforces the maximum duration of the speech for one request. */
export class SpeechLimit {
  #seconds = 0;

  /** Adds a chunk. @throws EngineError when the speech is too long */
  add({ samples, sampleRate }: SpeechChunk): void {
    this.#seconds += samples.length / sampleRate;
    if (this.#seconds <= SPEECH_MAX_SECONDS) return;
    throw new EngineError('failed', `The speech is longer than ${SPEECH_MAX_SECONDS} s.`);
  }
}

/** Returns the message of an engine failure; undefined for any other error. */
export function engineMessageOf(error: unknown): string | undefined {
  return error instanceof EngineError ? error.message.replace(/\.$/, '') : undefined;
}

export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** `unspeakable`: the voice cannot speak any part of the text; `failed`: any other error. */
  readonly reason: 'unspeakable' | 'failed';

  constructor(reason: 'unspeakable' | 'failed', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** A voice with its engine. */
export interface VoiceOfEngine {
  readonly engine: SpeechEngine;
  readonly voice: EngineVoice;
}

/** The speech engines of a service: the built-in one, and those added by the user. */
export class EngineRegistry {
  readonly #engines: ReadonlyMap<string, SpeechEngine>;

  /** @throws RangeError when two engines have the same name */
  constructor(engines: readonly SpeechEngine[]) {
    this.#engines = new Map(engines.map((engine) => [engine.name, engine]));
    if (this.#engines.size < engines.length) {
      throw new RangeError('Two speech engines have the same name.');
    }
  }

  find(engineName: string, voiceId: string): VoiceOfEngine | undefined {
    const engine = this.#engines.get(engineName);
    const voice = engine?.voices.find(({ id }) => id === voiceId);
    return engine === undefined || voice === undefined ? undefined : { engine, voice };
  }

  all(): readonly VoiceOfEngine[] {
    return [...this.#engines.values()].flatMap((engine) =>
      engine.voices.map((voice) => ({ engine, voice })),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#engines.values()].map((engine) => engine.close()));
  }
}
