import type { SpeechFormat } from '../../../contract/speech.ts';
import type { FileHead } from './mp3-file-head.ts';

/** The head of one file: the header of a wav, the Info tag of an mp3; ogg tells its length by itself. */
export async function openFileHead(format: SpeechFormat): Promise<FileHead> {
  if (format === 'mp3') {
    const { Mp3FileHead } = await import('./mp3-file-head.ts');
    return new Mp3FileHead();
  }
  const { wavHeader } = await import('./pcm.ts');
  return {
    pass: (bytes) => [bytes],
    finish: ({ samples, sampleRate }) =>
      format === 'wav' ? wavHeader({ sampleRate, totalSamples: samples }) : undefined,
  };
}
