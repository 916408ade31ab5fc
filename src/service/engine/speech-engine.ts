/** What the service asks of anything that can speak. */

export interface EngineVoice {
  /** The engine's own name of the voice, such as `slt`. */
  readonly id: string;
  /** Language code (BCP 47). */
  readonly language: string;
  readonly sampleRate: number;
}

export interface EngineRequest {
  readonly text: string;
  /** An `EngineVoice.id` of this engine. */
  readonly voice: string;
  /** Speaking rate; 1 is the voice's own. */
  readonly speed: number;
  /** Shift of the median pitch in semitones; 0 is the voice's own. */
  readonly pitch: number;
}

/** A stretch of speech: one sentence or clause, with the pause that follows it. */
export interface SpeechChunk {
  /** Mono samples in -1..1. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

export interface SpeechEngine {
  readonly name: string;
  readonly voices: readonly EngineVoice[];
  /**
   * Speaks the text chunk by chunk, the first as soon as its sentence is ready. Stops within one
   * chunk when the signal is aborted or the iterator is closed. The text is data: markup in it is
   * spoken or escaped, never obeyed.
   * @throws EngineError when the engine fails or can speak nothing of the text
   */
  synthesize(request: EngineRequest, signal: AbortSignal): AsyncIterable<SpeechChunk>;
  /** Ends threads and processes. */
  close(): Promise<void>;
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
