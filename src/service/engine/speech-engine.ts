import type { EngineControl, EngineModel } from '../../contract/engine.ts';
import { SPEECH_MAX_SECONDS } from '../../contract/limits.ts';
import type { CodePointRange } from '../../contract/unspoken.ts';

export interface EngineVoice {
  /** Voice id within the engine, such as `slt`. */
  readonly id: string;
  /** Display name; default: the id. */
  readonly name?: string;
  /** Language code (BCP 47). */
  readonly language: string;
  /** All languages (BCP 47) that the voice speaks, if it speaks several. */
  readonly languages?: readonly string[];
  readonly sampleRate: number;
  /**
   * The controls that the engine applies to this voice. Other controls have no effect. If this field is undefined, the
   * engine applies only speed and pitch. The service then applies the volume, and turns emotions and instructions into
   * changes of speed and pitch.
   */
  readonly controls?: readonly EngineControl[];
  /** True if the voice supports `EngineRequest.pitch`; other voices ignore that field. */
  readonly pitch: boolean;
  /** True if the engine reports the time of every word in `SpeechChunk.words`. */
  readonly words?: boolean;
  /** True if the voice supports `EngineRequest.textNormalization`; other voices ignore that field. */
  readonly reads?: boolean;
  /** The signs of IPA that the voice speaks in `EngineRequest.pronounced`; undefined if it speaks no phonemes. */
  readonly phonemes?: string | undefined;
}

/**
 * Settings of a request such as `volume` and `emotion`, for voices with `EngineVoice.controls`. `speed` and `pitch` are
 * fields of the request itself.
 */
export type EngineRequestControls = {
  readonly [Name in Exclude<EngineControl, 'speed' | 'pitch'>]?: string | number;
};

/** How to speak a text. If `speed` or `pitch` is beyond a limit of the engine, the engine clamps the value. */
export interface EngineSettings {
  /** Multiplies the default speed of the voice. */
  readonly speed: number;
  /** Semitones added to the default pitch of the voice. */
  readonly pitch: number;
  /** Id of the model to use, one of `SpeechEngine.models`; default the first. */
  readonly model?: string;
  readonly controls?: EngineRequestControls;
  /** True, the default, to read numbers, abbreviations and signs as words. */
  readonly textNormalization?: boolean;
}

/** A text and how to speak it. */
export interface EngineRequest extends EngineSettings {
  readonly text: string;
  /** The `EngineVoice.id` of the voice that speaks the text. */
  readonly voice: string;
  /** Words of the text to speak with given phonemes, in order. Only for voices with `EngineVoice.phonemes`. */
  readonly pronounced?: readonly PronouncedSpan[];
  /** True if the caller needs `SpeechChunk.words` and `SpeechChunk.span`. */
  readonly isTimed?: boolean;
  /** Account that sent the request. Engines take turns between accounts. */
  readonly client?: string;
  /** True if a user is waiting for the audio; the engine then prioritizes the first chunk. Default false. */
  readonly isInteractive?: boolean;
}

/** The speech of one sentence or clause, and the pause after it. */
export interface SpeechChunk {
  /** Mono samples at a loudness of about -20 LUFS. Full scale is -1 to 1; the service limits higher peaks later. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /**
   * Times of the next words of the text. The audio of these words may be in another chunk, so `samples` can be empty.
   */
  readonly words?: readonly WordMark[];
  /** The part of the text that is spoken in `samples`; undefined if the engine does not report it. */
  readonly span?: TextSpan;
}

/** A part of the text of a request, as a range of code points. */
export type TextSpan = CodePointRange;

/** A word or phrase of a text, and its phonemes in IPA. */
export interface PronouncedSpan extends TextSpan {
  readonly phonemes: string;
}

/** The time at which a word of the text is spoken. */
export interface WordMark extends TextSpan {
  /** Milliseconds from the beginning of the speech. */
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpeechEngine {
  readonly name: string;
  readonly voices: readonly EngineVoice[];
  /** The engine's own models. Undefined if the engine's voices use the models of the service. */
  readonly models?: readonly EngineModel[];
  /** The number of requests that the engine speaks at once, if it declares one. */
  readonly maxConcurrent?: number;
  /**
   * Starts the engine's threads or processes in the background, so that the first request is fast.
   * Never rejects: if the start fails, the first request reports the failure. Does not keep the
   * foley process alive.
   */
  warmUp(): Promise<void>;
  /**
   * Speaks the text chunk by chunk, at most one chunk ahead of the consumer. On abort, the iterator rejects at once
   * with the signal's abort reason. Markup in the text is spoken or skipped, never interpreted.
   * @throws EngineError when the engine fails, or the voice cannot speak any part of the text
   */
  synthesize(request: EngineRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>;
  /**
   * Returns the positions of the letters and digits in a text that the voice cannot speak; undefined if the engine does
   * not know them in advance.
   */
  unspoken?(request: EngineRequest): readonly TextSpan[] | undefined;
  /**
   * Makes a voice from a recording. Missing if the engine cannot clone voices.
   * @param reference path of the recording, and its transcript (empty if unknown)
   * @returns the id of the voice, which begins with {@link CLONED_VOICE}
   * @throws EngineError
   */
  clone?(
    reference: { readonly audio: string; readonly text: string },
    signal: AbortSignal,
  ): Promise<string>;
  /** Ends the threads and processes of the engine; running requests fail. */
  close(): Promise<void>;
}

/** Prefix of the ids of cloned voices. The ids of the voices that an engine lists contain no colon. */
export const CLONED_VOICE = 'clone:';

/** Prefix of the ids of the built-in engine's variations (src/service/engine/hibari/cast.ts). */
export const VARIED_VOICE = 'varied:';

/** Maximum length, in UTF-16 code units, of the sentence or clause that an engine synthesizes at once. */
export const LONGEST_PIECE = 240;

/** Enforces the maximum duration of the speech for one request. */
export class SpeechLimit {
  #seconds = 0;

  /** Adds the duration of a chunk. @throws EngineError when the speech is too long */
  add({ samples, sampleRate }: SpeechChunk): void {
    this.#seconds += samples.length / sampleRate;
    if (this.#seconds <= SPEECH_MAX_SECONDS) return;
    throw new EngineError('failed', `The speech is longer than ${SPEECH_MAX_SECONDS} s.`);
  }
}

/**
 * Returns the message of an EngineError without its full stop; undefined for other errors. If the user added the
 * engine, the message also says how to test the engine.
 */
export function engineMessageOf(error: unknown): string | undefined {
  return error instanceof EngineError ? error.report : undefined;
}

export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** `unspeakable`: the text has nothing that the voice can speak; `failed`: any other error. */
  readonly reason: 'unspeakable' | 'failed';
  /** Name of the failed engine, if the user added that engine. */
  readonly engine: string | undefined;

  constructor(reason: 'unspeakable' | 'failed', message: string, cause?: unknown, engine?: string) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.engine = engine;
  }

  /** The message without its full stop. For added engines, the message also says how to test the engine. */
  get report(): string {
    const message = this.message.replace(/\.$/, '');
    if (this.engine === undefined) return message;
    return `${message}. Test the engine with \`foley engine test ${this.engine}\``;
  }
}

/** A voice, and the engine that speaks it. */
export interface VoiceOfEngine {
  readonly engine: SpeechEngine;
  readonly voice: EngineVoice;
}

/**
 * The speech engines of a service: the built-in one, and those added by the user. An added engine with the name of the
 * built-in one has further voices of it.
 */
export class EngineRegistry {
  readonly #engines: readonly SpeechEngine[];

  /** @throws RangeError when two engines with the same name have the same voice */
  constructor(engines: readonly SpeechEngine[]) {
    this.#engines = engines;
    const names = this.all().map(({ engine, voice }) => `${engine.name} ${voice.id}`);
    if (new Set(names).size < names.length) {
      throw new RangeError('Two speech engines have the same name and voice.');
    }
  }

  /** The number of requests that the engines speak at once: the highest number that one declares, at least 1. */
  get maxConcurrent(): number {
    return Math.max(1, ...this.#engines.map(({ maxConcurrent = 1 }) => maxConcurrent));
  }

  find(engineName: string, voiceId: string): VoiceOfEngine | undefined {
    for (const engine of this.#engines.filter(({ name }) => name === engineName)) {
      const isMade =
        voiceId.startsWith(VARIED_VOICE) ||
        (engine.clone !== undefined && voiceId.startsWith(CLONED_VOICE));
      const [first] = engine.voices;
      const voice =
        isMade && first !== undefined
          ? { ...first, id: voiceId }
          : engine.voices.find(({ id }) => id === voiceId);
      if (voice !== undefined) return { engine, voice };
    }
    return undefined;
  }

  all(): readonly VoiceOfEngine[] {
    return this.#engines.flatMap((engine) => engine.voices.map((voice) => ({ engine, voice })));
  }

  async close(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.close()));
  }
}
