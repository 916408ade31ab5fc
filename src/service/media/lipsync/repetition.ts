import { MEDIA_RESULT_MAX_BYTES, MEDIA_RESULT_MAX_PICTURES } from '../../../contract/limits.ts';
import { importFailure } from '../import/import-failure.ts';
import type { InspectedVideo } from '../inspection/inspection.ts';

/**
 * Lets a video be shown again and again up to a length, unless what comes of it is more than a disk is to be
 * filled with: a small file may be as short as one picture.
 * @throws ServiceError 413; nothing is charged then
 */
export function requireRoomToRepeat(
  { bytes, pictures, seconds: length }: Pick<InspectedVideo, 'bytes' | 'pictures' | 'seconds'>,
  seconds: number,
): void {
  const times = Math.ceil(seconds / length);
  const isLarge = times * bytes > MEDIA_RESULT_MAX_BYTES;
  if (!isLarge && times * pictures <= MEDIA_RESULT_MAX_PICTURES) return;
  const limit = isLarge
    ? `${MEDIA_RESULT_MAX_BYTES} bytes`
    : `${MEDIA_RESULT_MAX_PICTURES} pictures`;
  const what = `would be shown ${times} times to last as long as the audio, which is more than ${limit}`;
  const subject = { kind: 'video', field: 'video_url' } as const;
  const code = 'ERR_MEDIA_TOO_LARGE';
  throw importFailure(subject, { code, what, stage: 'inspection', retryable: false });
}
