import type { AudioFormat } from '../../contract/values.ts';
import type { AudioJoiner, JoinerOptions } from './audio-joiner.ts';
import { createMp3Joiner } from './mp3.ts';
import { createOggJoiner } from './ogg.ts';
import { createPcmJoiner, createWavJoiner } from './wav.ts';

/**
 * A joiner of whole files of one format:
 * - wav and pcm: exact to the sample; a wav that is no stream has its true lengths.
 * - ogg: each part stays a stream of its own behind the one before (RFC 3533, section 4, "chained"), for a
 *   Vorbis stream begins and ends on its samples only so; its time goes on. Exact to the sample.
 * - mp3: the frames of all parts, without their tags; a file gets one Info tag for the whole, with the
 *   delay of the first part and the padding of the last.
 */
export function createJoiner(format: AudioFormat, options: JoinerOptions): AudioJoiner {
  return JOINERS[format](options);
}

const JOINERS: Readonly<Record<AudioFormat, (options: JoinerOptions) => AudioJoiner>> = {
  wav: createWavJoiner,
  mp3: createMp3Joiner,
  ogg: createOggJoiner,
  pcm: createPcmJoiner,
};
