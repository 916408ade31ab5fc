/** Samples of every channel, from -1 to 1, all of one length. */
export interface DecodedSound {
  readonly channels: readonly Float32Array[];
  readonly sampleRate: number;
}

/** Decodes a file that comes in pieces. */
export interface SoundDecoder {
  /**
   * How many bytes it should be given at a time: few where they may hold much sound, as silence does, so
   * that what they become is bounded too.
   */
  readonly pieceBytes: number;
  /** What can be heard after this piece, which may be reused then. */
  decode(piece: Uint8Array): Promise<DecodedSound>;
  /** The rest. */
  finish(): Promise<DecodedSound>;
  /** Gives its memory back. */
  close(): void;
}

/** Nothing to hear. */
export const NO_SOUND: DecodedSound = { channels: [], sampleRate: 0 };
