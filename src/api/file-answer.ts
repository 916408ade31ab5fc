import type { Framing } from './response-body.ts';

/** Raw samples of 16 bits. */
export interface PcmLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitDepth: 16;
}

/** A file as it arrives: audio, a picture or a video. */
export interface FileAnswer {
  /**
   * The bytes, to be read once, with back-pressure. Throws a Failure (bad_answer) when they are
   * cut, stop, are longer than announced, or when there are none.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Media type without parameters. */
  readonly contentType: string;
  readonly contentLength: number | undefined;
  /** How raw samples are to be read, where the media type says so. */
  readonly pcm: PcmLayout | undefined;
  /** A body that ends with the connection (`close`) may have been cut unnoticed: check its bytes. */
  readonly framing: Framing;
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
  /** More bytes are not read (`--max-bytes`); undefined for what suits the text. */
  readonly maxBytes?: number | undefined;
  discard(): void;
  /**
   * Gives the memory of a chunk of the body back, to be written over: nobody may look at it after that.
   * A chunk that is not given back stays as it is.
   */
  reuse?(chunk: Uint8Array): void;
}
