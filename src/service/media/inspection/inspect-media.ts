import type { Input } from 'mediabunny';
import { Check } from 'typebox/schema';
import { MEDIA_SECONDS_MAX } from '../../../contract/limits.ts';
import type { MediaTask } from '../child/tasks.ts';
import { MediaTaskError } from '../child/media-task-error.ts';
import { checkBoxes } from './check-boxes.ts';
import { walkPackets } from './walk-packets.ts';
import type { AudioFacts, InspectedVideo, Inspection } from './inspection.ts';
import { InspectionOrder } from './inspection.ts';
import { encoderPadding } from './encoder-padding.ts';
import { flacSeconds, requireWholePages } from './whole-sound.ts';
import { readMedia } from './open-media.ts';

/** Codecs of video that an mp4 may hold as they are. */
const VIDEO_CODECS = new Set(['avc', 'hevc', 'vp8', 'vp9', 'av1']);
/** Codecs of sound that an mp4 may hold as they are, or that are decoded here. */
const AUDIO_CODECS = new Set(['aac', 'mp3', 'opus', 'flac', 'vorbis']);
/** Codecs that are decoded here, and only in files of their own. */
const OWN_FORMATS = new Map([
  ['vorbis', 'Ogg'],
  ['flac', 'FLAC'],
]);

/** More pixels than a picture of any video has. */
const LONGEST_SIDE = 8_192;

/**
 * Says what is in a media file, after reading all of the track that is needed (spec section 7.3).
 * @throws MediaTaskError `unsupported` for another format or codec, or when the track is missing;
 * `too-large` for one that is too long; `unreadable` for anything that is broken
 */
export const inspectMedia: MediaTask = async (order) => {
  if (!Check(InspectionOrder, order)) throw new TypeError('this is no order of an inspection');
  const { needs, path } = order;
  await checkBoxes(path);
  return readMedia(path, async (input): Promise<Inspection> => {
    if (needs === 'video') return { video: await videoFacts(input), audio: null };
    return { video: null, audio: await audioFacts(input, path) };
  });
};

async function videoFacts(input: Input): Promise<InspectedVideo> {
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw unsupported('has no video in it');
  const codec = await track.getCodec();
  if (codec === null || !VIDEO_CODECS.has(codec))
    throw unsupported('has video of an unknown codec');
  const [width, height] = [await track.getDisplayWidth(), await track.getDisplayHeight()];
  if (!isSide(width) || !isSide(height)) throw tooLarge(`has pictures of ${width} x ${height}`);
  const { bytes, count: pictures, first } = await walkPackets(track);
  const seconds = bounded((await track.computeDuration()) - first);
  return { codec, width, height, seconds, pictures, bytes };
}

async function audioFacts(input: Input, path: string): Promise<AudioFacts> {
  const track = await input.getPrimaryAudioTrack();
  if (track === null) throw unsupported('has no sound in it');
  const codec = await track.getCodec();
  if (codec === null || !isKnownSound(codec)) throw unsupported('has sound of an unknown codec');
  const format = (await input.getFormat()).name;
  const ownFormat = OWN_FORMATS.get(codec);
  if (ownFormat !== undefined && ownFormat !== format) {
    throw unsupported(`has sound of ${codec} in something else than a file of ${ownFormat}`);
  }
  const { first } = await walkPackets(track);
  const { before, behind, unknown } = await encoderPadding(path, format);
  // What comes before zero is what an encoder added, and the file says so.
  const start = Math.max(first, 0) + before;
  if (format === 'Ogg') await requireWholePages(path);
  const told = format === 'FLAC' ? await flacSeconds(path) : undefined;
  const seconds = bounded(told ?? (await track.computeDuration()) - start - behind);
  return { codec, start, seconds, paddingSeconds: unknown };
}

function isKnownSound(codec: string): boolean {
  return AUDIO_CODECS.has(codec) || codec.startsWith('pcm-');
}

function isSide(pixels: number): boolean {
  return Number.isInteger(pixels) && pixels > 0 && pixels <= LONGEST_SIDE;
}

/** Files that are broken may say that they are a year long, or none at all. */
function bounded(seconds: number): number {
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new MediaTaskError('unreadable', 'has no length');
  }
  if (seconds > MEDIA_SECONDS_MAX) throw tooLarge(`is longer than ${MEDIA_SECONDS_MAX} s`);
  return seconds;
}

function unsupported(what: string): MediaTaskError {
  return new MediaTaskError('unsupported', what);
}

function tooLarge(what: string): MediaTaskError {
  return new MediaTaskError('too-large', what);
}
