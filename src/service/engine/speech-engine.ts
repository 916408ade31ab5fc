import { SPEECH_MAX_SECONDS } from '../../contract/limits.ts';

/** What the service asks of anything that can speak. */

export interface EngineVoice {
  /** The engine's own name of the voice, such as `slt`. */
  readonly id: string;
  /** Language code (BCP 47). */
  readonly language: string;
  readonly sampleRate: number;
  /** Whether `EngineRequest.pitch` changes this voice; where it does not, it is ignored. */
  readonly pitch: boolean;
  /** Whether `SpeechChunk.words` tells of every word. */
  readonly words?: boolean;
}

/**
 * How to say a text. A voice of the service may be an engine voice with a rate and a pitch of its
 * own: the caller multiplies the rates, adds the semitones and asks for the result. What an engine
 * cannot do it limits to what it can; each says where its limits are.
 */
export interface EngineRequest {
  readonly text: string;
  /** An `EngineVoice.id` of this engine. */
  readonly voice: string;
  /** Speaking rate; 1 is the voice's own. */
  readonly speed: number;
  /** Shift of the median pitch in semitones; 0 is the voice's own. */
  readonly pitch: number;
  /** Whether `SpeechChunk.words` and `span` are of use; an engine may tell of them anyway. */
  readonly isTimed?: boolean;
  /** Whose request it is; clients take turns. */
  readonly client?: string;
  /** Whether a listener waits: its first stretch goes before later stretches of others. Default no. */
  readonly isInteractive?: boolean;
}

/** A stretch of speech: one sentence or clause, with the pause that follows it. */
export interface SpeechChunk {
  /** Mono samples in -1..1, about -20 dB of full scale on average whatever the voice. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /**
   * Words that were told since the chunk before, in the order of the text; their speech may be in
   * another chunk. A last chunk may have words and no samples.
   */
  readonly words?: readonly WordMark[];
  /** What of the text the samples say, where the engine knows it before it knows the words. */
  readonly span?: TextSpan;
}

/** Code points of the request's text; the end is the one after the last. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** When a word of the text is said. */
export interface WordMark extends TextSpan {
  /** Milliseconds from the beginning of the request's speech. */
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpeechEngine {
  readonly name: string;
  readonly voices: readonly EngineVoice[];
  /**
   * Begins whatever the first request would have to wait for, in the background. Resolves when it
   * is done or has failed: a failure is for the first request to tell. Does not keep the process
   * alive.
   */
  warmUp(): Promise<void>;
  /**
   * Speaks the text chunk by chunk, the first as soon as its sentence is ready. Nothing is made
   * that nobody asks for, but one chunk ahead. When the signal is aborted the iterator rejects at
   * once with its reason; when the iterator is closed, what was made ahead is dropped. The text is
   * data: markup in it is spoken or left out, never obeyed.
   * @throws EngineError when the engine fails or can speak nothing of the text
   */
  synthesize(request: EngineRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>;
  /** Ends threads and processes; what is being spoken fails. */
  close(): Promise<void>;
}

/**
 * Longest stretch of a text that is spoken in one go, in UTF-16 units: a sentence, or a clause of a long
 * one. Listening begins and stops soon, and what is told of words is told by stretches.
 */
export const LONGEST_STRETCH = 240;

/** Counts the speech of one request. */
export class SpeechLimit {
  #seconds = 0;

  /** @throws EngineError when there is more than a request may have */
  add({ samples, sampleRate }: SpeechChunk): void {
    this.#seconds += samples.length / sampleRate;
    if (this.#seconds <= SPEECH_MAX_SECONDS) return;
    throw new EngineError('failed', `The speech is longer than ${SPEECH_MAX_SECONDS} s.`);
  }
}

/** Returns the message of an engine that failed; `undefined` for any other error. */
export function engineMessageOf(error: unknown): string | undefined {
  return error instanceof EngineError ? error.message.replace(/\.$/, '') : undefined;
}

export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** `unspeakable`: the text has nothing that this voice can say; `failed`: the engine broke. */
  readonly reason: 'unspeakable' | 'failed';

  constructor(reason: 'unspeakable' | 'failed', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
