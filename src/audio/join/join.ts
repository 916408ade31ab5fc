import type { AudioFormat } from '../../contract/values.ts';
import type { AudioJoiner } from './joiner.ts';
import { Mp3Joiner } from './mp3.ts';
import { OggJoiner } from './ogg.ts';
import { WavJoiner } from './wav.ts';

/**
 * Creates a joiner, which joins files of one format:
 * - wav and pcm: joins the samples. In a seekable wav file it corrects the lengths in the header.
 * - ogg: chains the streams (RFC 3533, section 4), with continuous time and all samples.
 * - mp3: joins the frames without the tags of the parts. A seekable file gets one Info tag, with the encoder delay of
 * the first part and the padding of the last part.
 * @param options `isSeekable`: whether earlier bytes can be overwritten, as in a file but not in a pipe
 */
export function createJoiner(
  format: AudioFormat,
  { isSeekable }: { readonly isSeekable: boolean },
): AudioJoiner {
  switch (format) {
    case 'wav':
      return new WavJoiner(isSeekable);
    case 'mp3':
      return new Mp3Joiner(isSeekable);
    case 'ogg':
      return new OggJoiner();
    case 'pcm':
      return {
        write: (chunk) => chunk.slice(),
        endPart: () => new Uint8Array(0),
        starts: () => [],
        corrections: () => [],
      };
  }
}
