import { open } from 'node:fs/promises';
import type { InputAudioTrack } from 'mediabunny';
import { MediaTaskError } from '../child/media-task-error.ts';
import type { Sound } from './sound.ts';
import { soundOf } from './sound.ts';

/** Decodes the sound of a track: plain samples of any kind, and Ogg Vorbis. */
export async function* decodeSound(track: InputAudioTrack, path: string): AsyncGenerator<Sound> {
  yield* (await track.getCodec()) === 'vorbis' ? decodeVorbis(path) : decodePcm(track);
}

async function* decodePcm(track: InputAudioTrack): AsyncGenerator<Sound> {
  const { AudioSampleSink } = await import('mediabunny');
  for await (const sample of new AudioSampleSink(track).samples()) {
    const { numberOfChannels, numberOfFrames, sampleRate } = sample;
    const planes = Array.from({ length: numberOfChannels }, (_, planeIndex) => {
      const plane = new Float32Array(numberOfFrames);
      sample.copyTo(plane, { format: 'f32-planar', planeIndex });
      return plane;
    });
    sample.close();
    yield soundOf(planes, sampleRate);
  }
}

const PIECE_BYTES = 64 * 1024;

async function* decodeVorbis(path: string): AsyncGenerator<Sound> {
  const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis');
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  const file = await open(path);
  try {
    for await (const piece of file.createReadStream({
      highWaterMark: PIECE_BYTES,
      autoClose: false,
    })) {
      if (!(piece instanceof Uint8Array)) throw new TypeError('a file of no bytes');
      yield* some(await decoder.decode(piece));
    }
    yield* some(await decoder.flush());
  } finally {
    await file.close();
    decoder.free();
  }
}

function* some({
  channelData,
  errors,
  sampleRate,
}: {
  readonly channelData: readonly Float32Array[];
  readonly errors: readonly { readonly message: string }[];
  readonly sampleRate: number;
}): Generator<Sound> {
  const [error] = errors;
  if (error !== undefined)
    throw new MediaTaskError('unreadable', 'has sound that cannot be decoded');
  if ((channelData[0]?.length ?? 0) > 0) yield soundOf(channelData, sampleRate);
}
