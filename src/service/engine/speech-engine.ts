import type { EngineControl, EngineModel } from '../../contract/engine.ts';
import { SPEECH_MAX_SECONDS } from '../../contract/limits.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';

export interface EngineVoice {
  /** Voice id within the engine, such as `slt`. */
  readonly id: string;
  /** Display name, default the id. */
  readonly name?: string;
  /** Language code (BCP 47). */
  readonly language: string;
  /** All languages of a voice that speaks several. */
  readonly languages?: readonly string[];
  readonly sampleRate: number;
  /**
   * The controls that the engine applies itself; all others have no effect. Undefined for an engine that applies speed
   * and pitch, while the service applies the volume and changes speed and pitch for emotions and instructions.
   */
  readonly controls?: readonly EngineControl[];
  /** Whether the voice supports `EngineRequest.pitch`; other voices ignore that field. */
  readonly pitch: boolean;
  /** Whether the engine reports the time of every word in `SpeechChunk.words`. */
  readonly words?: boolean;
  /** Whether the service reads text for the voice, so that `EngineRequest.textNormalization` has an effect. */
  readonly reads?: boolean;
}

/** The controls of a request besides `speed` and `pitch`, for a voice with `EngineVoice.controls`. */
export type EngineRequestControls = {
  readonly [Name in Exclude<EngineControl, 'speed' | 'pitch'>]?: string | number;
};

/** A text and how to speak it; an engine clamps `speed` and `pitch` to the limits of the engine. */
export interface EngineRequest {
  readonly text: string;
  /** The `EngineVoice.id` of the voice that speaks. */
  readonly voice: string;
  /** Multiplies the default speed of the voice. */
  readonly speed: number;
  /** Semitones added to the default pitch of the voice. */
  readonly pitch: number;
  /** The model that speaks, one of `SpeechEngine.models`; default the first. */
  readonly model?: string;
  readonly controls?: EngineRequestControls;
  /** Whether numbers, abbreviations and signs are read as words, default true. */
  readonly textNormalization?: boolean;
  /** Whether the caller needs `SpeechChunk.words` and `SpeechChunk.span`. */
  readonly isTimed?: boolean;
  /** Account of the request; engines serve accounts in turn. */
  readonly client?: string;
  /** Whether a listener is waiting; if so, the first chunk is prioritized. Default false. */
  readonly isInteractive?: boolean;
}

/** The speech of one sentence or clause, and the pause after it. */
export interface SpeechChunk {
  /** Mono samples, of which full scale is -1..1; higher peaks are limited later. The loudness is about -20 LUFS. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** Times of the next words of the text. The samples of these words may be in another chunk, and `samples` empty. */
  readonly words?: readonly WordMark[];
  /** The part of the text that the samples speak; set if the engine knows it before the word times. */
  readonly span?: TextSpan;
}

/** A part of the request's text. */
export type TextSpan = CodePointRange;

/** The time of a word of the text. */
export interface WordMark extends TextSpan {
  /** Milliseconds from the beginning of the speech. */
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpeechEngine {
  readonly name: string;
  readonly voices: readonly EngineVoice[];
  /** The engine's own models; undefined if its voices belong to the models of the service. */
  readonly models?: readonly EngineModel[];
  /**
   * Starts the engine's threads or processes in the background, so that the first request is fast. Never rejects,
   * because the first request reports a failure. Does not keep foley alive.
   */
  warmUp(): Promise<void>;
  /**
   * Speaks the text chunk by chunk, at most one chunk ahead of the consumer. On abort the iterator rejects at once
   * with the signal's reason. Markup in the text is spoken or skipped, never interpreted.
   * @throws EngineError when the engine fails, or the voice cannot speak any part of the text
   */
  synthesize(request: EngineRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>;
  /**
   * Returns the letters and digits of a text that a voice leaves out, in order; undefined if the engine does not know
   * them before it speaks.
   */
  unspoken?(
    request: Pick<EngineRequest, 'text' | 'textNormalization' | 'voice'>,
  ): readonly TextSpan[] | undefined;
  /**
   * Makes a voice from a recording, if the engine can.
   * @param reference path of the recording, and what it says; empty if that is unknown
   * @returns the voice for requests, which begins with {@link CLONED_VOICE}
   * @throws EngineError
   */
  clone?(
    reference: { readonly audio: string; readonly text: string },
    signal: AbortSignal,
  ): Promise<string>;
  /** Ends the threads and processes of the engine; running requests fail. */
  close(): Promise<void>;
}

/** How the ids of cloned voices begin; no other id contains a colon. */
export const CLONED_VOICE = 'clone:';

/** Maximum length in UTF-16 units of a text that is synthesized at once: a sentence, or a clause of a long sentence. */
export const LONGEST_PIECE = 240;

/** Enforces the maximum duration of the speech of one request. */
export class SpeechLimit {
  #seconds = 0;

  /** Adds a chunk. @throws EngineError when the speech is too long */
  add({ samples, sampleRate }: SpeechChunk): void {
    this.#seconds += samples.length / sampleRate;
    if (this.#seconds <= SPEECH_MAX_SECONDS) return;
    throw new EngineError('failed', `The speech is longer than ${SPEECH_MAX_SECONDS} s.`);
  }
}

/** Returns the message of an engine failure, and how to test an added engine; undefined for any other error. */
export function engineMessageOf(error: unknown): string | undefined {
  return error instanceof EngineError ? error.report : undefined;
}

export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** `unspeakable`: the text has nothing that the voice can speak; `failed`: any other error. */
  readonly reason: 'unspeakable' | 'failed';
  /** Name of the added engine that failed. */
  readonly engine: string | undefined;

  constructor(reason: 'unspeakable' | 'failed', message: string, cause?: unknown, engine?: string) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.engine = engine;
  }

  /** The message without its full stop, and how to test an added engine. */
  get report(): string {
    const message = this.message.replace(/\.$/, '');
    if (this.engine === undefined) return message;
    return `${message}. Test the engine with \`foley engine test ${this.engine}\``;
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
    const cloned = engine?.clone === undefined ? undefined : engine.voices[0];
    const voice =
      cloned !== undefined && voiceId.startsWith(CLONED_VOICE)
        ? { ...cloned, id: voiceId }
        : engine?.voices.find(({ id }) => id === voiceId);
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
