import { rm, stat } from 'node:fs/promises';
import type { Input } from 'mediabunny';
import { Check } from 'typebox/schema';
import type { MediaTask } from '../child/tasks.ts';
import { wholeFile } from '../child/whole-file.ts';
import { readMedia } from '../inspection/open-media.ts';
import type { Aligned } from './align-order.ts';
import { AlignOrder } from './align-order.ts';
import { copyAudio } from './copy-audio.ts';
import { copyVideo, placeVideo } from './copy-video.ts';
import { SANDBOX_COMMENT } from './sandbox-comment.ts';
import { toAac } from './to-aac.ts';

/** Codecs of sound that stay as they are, unless their tempo changes. */
const COPIED = new Set(['aac', 'mp3', 'opus']);

/**
 * Lip sync as this service does it: the pictures stay as they are, and the sound is replaced by another
 * that begins with them. Both end together. What comes out is an mp4.
 * @throws MediaTaskError when a source cannot be read any more
 */
export const alignSound: MediaTask = async (given, { progress }): Promise<Aligned> => {
  if (!Check(AlignOrder, given)) throw new TypeError('this is no order of a lip sync');
  const encoded = `${given.output}.m4a`;
  try {
    const order = needsEncoding(given) ? { ...given, ...(await toAac(given, encoded)) } : given;
    await wholeFile(order.output, () =>
      readMedia(order.video, (video) =>
        readMedia(order.audio, (audio) => join({ video, audio }, order, progress)),
      ),
    );
    const { size: bytes } = await stat(order.output);
    return { audioCodec: order.audioFacts.codec, bytes };
  } finally {
    await rm(encoded, { force: true });
  }
};

function needsEncoding({ audioFacts, tempo }: AlignOrder): boolean {
  return tempo !== 1 || !COPIED.has(audioFacts.codec);
}

interface Sources {
  readonly video: Input;
  readonly audio: Input;
}

async function tracksOf(sources: Sources) {
  const videoTrack = await sources.video.getPrimaryVideoTrack();
  const audioTrack = await sources.audio.getPrimaryAudioTrack();
  const videoCodec = await videoTrack?.getCodec();
  const audioCodec = await audioTrack?.getCodec();
  if (!videoTrack || !audioTrack || !videoCodec || !audioCodec) {
    throw new TypeError('a source is not what it was');
  }
  return { audioCodec, audioTrack, videoCodec, videoTrack };
}

async function join(
  sources: Sources,
  { audioFacts, output, seconds }: AlignOrder,
  progress: (fraction: number) => void,
): Promise<void> {
  const {
    EncodedAudioPacketSource,
    EncodedVideoPacketSource,
    FilePathTarget,
    Mp4OutputFormat,
    Output,
  } = await import('mediabunny');
  const { audioCodec, audioTrack, videoCodec, videoTrack } = await tracksOf(sources);
  const placed = await placeVideo(videoTrack, seconds);
  const video = new EncodedVideoPacketSource(videoCodec);
  const audio = new EncodedAudioPacketSource(audioCodec);
  // The index goes behind the media: nothing has to be held in memory or written twice.
  const file = new Output({
    format: new Mp4OutputFormat({ fastStart: false }),
    target: new FilePathTarget(output),
  });
  file.addVideoTrack(video, { rotation: await videoTrack.getRotation() });
  file.addAudioTrack(audio);
  file.setMetadataTags({ comment: SANDBOX_COMMENT });
  let copied = 0;
  const heard = (): void => progress((copied += 1) / placed.places.length);
  try {
    await file.start();
    // Each waits for the other: neither may get far ahead.
    await Promise.all([
      copyVideo(placed, video, heard),
      copyAudio({ track: audioTrack, start: audioFacts.start, seconds }, audio),
    ]);
    await file.finalize();
  } catch (error) {
    await file.cancel();
    throw error;
  }
}
