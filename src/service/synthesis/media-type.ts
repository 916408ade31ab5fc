import { mediaTypeOf } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/audio-formats.ts';
import { PCM_SAMPLE_RATE } from '../engine/encode/pcm.ts';

/** The media type of audio; that of raw samples also says how they are to be read. */
export function speechMediaType(format: AudioFormat): string {
  const type = mediaTypeOf(format);
  return format === 'pcm' ? `${type};rate=${PCM_SAMPLE_RATE};channels=1` : type;
}
