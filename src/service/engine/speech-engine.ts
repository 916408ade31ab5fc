import { SPEECH_MAX_SECONDS } from '../../contract/limits.ts';

/** A voice of a speech engine. */
export interface EngineVoice {
  /** The engine's name for the voice, such as `slt`. */
  readonly id: string;
  /** Name for people, default the id. */
  readonly name?: string;
  /** Language code (BCP 47). */
  readonly language: string;
  readonly sampleRate: number;
  /** Whether the voice supports `EngineRequest.pitch`, which is ignored otherwise. */
  readonly pitch: boolean;
  /** Whether `SpeechChunk.words` has every word. */
  readonly words?: boolean;
}

/** A text and how to speak it; an engine clamps speed and pitch to its own limits. */
export interface EngineRequest {
  readonly text: string;
  /** An `EngineVoice.id` of the engine. */
  readonly voice: string;
  /** Factor on the voice's own rate. */
  readonly speed: number;
  /** Semitones added to the voice's own pitch. */
  readonly pitch: number;
  /** Whether the caller uses `SpeechChunk.words` and `span`. */
  readonly isTimed?: boolean;
  /** The account; engines serve accounts in turn. */
  readonly client?: string;
  /** Whether a listener waits: its first chunk goes before later chunks of others. Default false. */
  readonly isInteractive?: boolean;
}

/** The speech of one sentence or clause, with the pause that follows it. */
export interface SpeechChunk {
  /** Mono samples in -1..1, on average about -20 dB of full scale with any voice. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** More words in the order of the text; their samples may be in another chunk. A last chunk may have words only. */
  readonly words?: readonly WordMark[];
  /** The part of the text in the samples, where the engine knows it before the words. */
  readonly span?: TextSpan;
}

/** A range of code points of the request's text; the end is exclusive. */
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
   * Starts in the background what the first request would wait for. Also resolves after a failure, which the first
   * request will report. Does not keep the process alive.
   */
  warmUp(): Promise<void>;
  /**
   * Speaks the text chunk by chunk, at most one ahead of the consumer. When the signal is aborted, the iterator
   * rejects at once with its reason. Markup in the text is spoken or left out, never interpreted.
   * @throws EngineError when the engine fails or can speak nothing of the text
   */
  synthesize(request: EngineRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>;
  /** Ends threads and processes; running requests fail. */
  close(): Promise<void>;
}

/** The longest piece of text that is synthesized at once, in UTF-16 units: a sentence, or a clause of a long one. */
export const LONGEST_STRETCH = 240;

/** Enforces the longest speech of one request. */
export class SpeechLimit {
  #seconds = 0;

  /** @throws EngineError when the speech is longer than that */
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
  /** `unspeakable`: the voice can speak nothing of the text; `failed`: anything else. */
  readonly reason: 'unspeakable' | 'failed';

  constructor(reason: 'unspeakable' | 'failed', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** An engine with one of its voices. */
export interface VoiceOfEngine {
  readonly engine: SpeechEngine;
  readonly voice: EngineVoice;
}

/** The engines of a service by name: the built-in one and those that were added. */
export class EngineRegistry {
  readonly #engines: ReadonlyMap<string, SpeechEngine>;

  /** @throws RangeError when two engines have the same name */
  constructor(engines: readonly SpeechEngine[]) {
    this.#engines = new Map(engines.map((engine) => [engine.name, engine]));
    if (this.#engines.size < engines.length) {
      throw new RangeError('Two speech engines have the same name.');
    }
  }

  /** Finds a voice by the name of its engine and its id. */
  find(engineName: string, voiceId: string): VoiceOfEngine | undefined {
    const engine = this.#engines.get(engineName);
    const voice = engine?.voices.find(({ id }) => id === voiceId);
    return engine === undefined || voice === undefined ? undefined : { engine, voice };
  }

  /** Returns every voice of every engine. */
  all(): readonly VoiceOfEngine[] {
    return [...this.#engines.values()].flatMap((engine) =>
      engine.voices.map((voice) => ({ engine, voice })),
    );
  }

  /** Closes all engines. */
  async close(): Promise<void> {
    await Promise.all([...this.#engines.values()].map((engine) => engine.close()));
  }
}
