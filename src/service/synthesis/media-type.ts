import { mediaTypeOf } from '../../audio/formats.ts';
import { PCM_SAMPLE_RATE } from '../engine/encode/pcm.ts';
import type { EncodedFormat } from './encode.ts';

/** The media type of audio; that of raw samples also says how they are to be read. */
export function speechMediaType(format: EncodedFormat): string {
  const type = mediaTypeOf(format);
  return format === 'pcm' ? `${type};rate=${PCM_SAMPLE_RATE};channels=1` : type;
}
