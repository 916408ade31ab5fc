import type { LipSyncResult } from '../../../contract/schemas/lip-sync.ts';
import { storedOrder } from '../jobs/stored-order.ts';
import type { MediaWork } from '../jobs/work.ts';
import type { AlignOrder } from './align-order.ts';
import { Aligned } from './align-order.ts';
import { shownSeconds } from './billing.ts';
import { StoredLipSync, VIDEO_FILE } from './stored-lip-sync.ts';

const RESULT = 'result.mp4';

/** Half an hour of video takes a few seconds to copy, and half an hour of sound half a minute to encode. */
const DEADLINE_MS = 600_000;

/** Makes a lip sync, also that of a dubbing. */
export const lipSyncWork: MediaWork = async (job, { draftOf, pathOf, progress, run, signal }) => {
  const { audio, audioFile, seconds, tempo, video } = storedOrder(StoredLipSync, job);
  const order: AlignOrder = {
    video: pathOf(VIDEO_FILE),
    audio: pathOf(audioFile),
    audioFacts: audio,
    seconds,
    tempo,
    output: draftOf(RESULT),
  };
  const options = { result: Aligned, deadlineMs: DEADLINE_MS, signal, onProgress: progress };
  const { audioCodec, bytes } = await run('align-sound', order, options);
  const facts: LipSyncResult = {
    duration_seconds: shownSeconds(seconds),
    width: video.width,
    height: video.height,
    video_codec: video.codec,
    audio_codec: audioCodec,
    size_bytes: bytes,
  };
  return { name: RESULT, contentType: 'video/mp4', facts };
};
