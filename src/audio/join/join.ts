import type { AudioFormat } from '../../contract/values.ts';
import type { AudioJoiner } from './joiner.ts';
import { Mp3Joiner } from './mp3.ts';
import { PcmJoiner, WavJoiner } from './wav.ts';

/**
 * Creates a joiner for audio files of one format. Ogg files are joined by `OggFiles`.
 * @param options `isSeekable`: whether earlier bytes of the output can be overwritten, as in a file but not in a pipe.
 * `sampleRate`: returns the sample rate in Hz (default: 24,000); used only to add silence to `pcm`.
 */
export function createJoiner(
  format: Exclude<AudioFormat, 'ogg'>,
  {
    isSeekable,
    sampleRate,
  }: { readonly isSeekable: boolean; readonly sampleRate?: () => number | undefined },
): AudioJoiner {
  switch (format) {
    case 'wav':
      return new WavJoiner(isSeekable);
    case 'mp3':
      return new Mp3Joiner(isSeekable);
    case 'pcm':
      return new PcmJoiner(sampleRate);
  }
}
