/** A stream of samples in, the bytes of one file out. */
export interface AudioEncoder {
  /** Bytes that can be sent now; often none, as formats have blocks and pages. */
  encode(samples: Float32Array): Uint8Array<ArrayBuffer>;
  /** The rest of the file. */
  finish(): Uint8Array<ArrayBuffer>;
  /** Gives back what it holds; afterwards nothing may be asked of it. To be called in any case. */
  close(): void;
}

/** What is known when the first samples have come. */
export interface EncoderInput {
  readonly sampleRate: number;
  /** How many samples will come, where that is known. */
  readonly totalSamples: number | undefined;
}
