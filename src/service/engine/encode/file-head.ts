import type { SpeechFormat } from '../../../contract/schemas/speech.ts';

/** How long speech is. */
export interface SpeechLength {
  readonly samples: number;
  /** Of the speech, whatever the rate of the file. */
  readonly sampleRate: number;
}

/**
 * The beginning of a file that tells its length, while that is known only at its end: for files,
 * whose beginning can be written over. A stream has to do without.
 */
export interface FileHead {
  /** What is to be written for the next bytes of the encoder. */
  pass(bytes: Uint8Array): readonly Uint8Array[];
  /** What is to be written over the beginning of the file; nothing where the format needs none. */
  finish(length: SpeechLength): Uint8Array | undefined;
}

/** The head of one file: the header of a wav, the Info tag of an mp3; ogg tells its length by itself. */
export async function openFileHead(format: SpeechFormat): Promise<FileHead> {
  if (format === 'mp3') {
    const { Mp3FileHead } = await import('./mp3-file-head.ts');
    return new Mp3FileHead();
  }
  const { wavHeader } = await import('./wav.ts');
  return {
    pass: (bytes) => [bytes],
    finish: ({ samples, sampleRate }) =>
      format === 'wav' ? wavHeader({ sampleRate, totalSamples: samples }) : undefined,
  };
}
