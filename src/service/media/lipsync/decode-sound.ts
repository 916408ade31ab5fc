import { open } from 'node:fs/promises';
import type { InputAudioTrack } from 'mediabunny';
import { FLAC_TAIL } from '../../../audio/decode/packed-decoders.ts';
import { MediaTaskError } from '../child/media-task-error.ts';
import type { Sound } from './sound.ts';
import { soundOf } from './sound.ts';

/** Decodes the sound of a track: plain samples of any kind, Ogg Vorbis and FLAC. */
export async function* decodeSound(track: InputAudioTrack, path: string): AsyncGenerator<Sound> {
  const codec = await track.getCodec();
  if (codec === 'vorbis') {
    const { OggVorbisDecoder } = await import('@wasm-audio-decoders/ogg-vorbis');
    yield* decodeFile(new OggVorbisDecoder(), path);
  } else if (codec === 'flac') {
    yield* decodeFlac(path);
  } else {
    yield* decodePcm(track);
  }
}

/** Decodes a file of FLAC; frames that are damaged are left out. */
export async function* decodeFlac(path: string): AsyncGenerator<Sound> {
  const { FLACDecoder } = await import('@wasm-audio-decoders/flac');
  yield* decodeFile(new FLACDecoder(), path, FLAC_TAIL);
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

/** A decoder that takes a file piece by piece. */
interface FileDecoder {
  readonly ready: Promise<void>;
  decode(piece: Uint8Array): Promise<Decoded>;
  flush(): Promise<Decoded>;
  free(): void;
}

interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly errors: readonly unknown[];
  readonly sampleRate: number;
}

/** @param tail given to the decoder behind the last byte */
async function* decodeFile(
  decoder: FileDecoder,
  path: string,
  tail?: Uint8Array,
): AsyncGenerator<Sound> {
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
    if (tail !== undefined) yield* some(await decoder.decode(tail));
    yield* some(await decoder.flush());
  } finally {
    await file.close();
    decoder.free();
  }
}

function* some({ channelData, errors, sampleRate }: Decoded): Generator<Sound> {
  if (errors.length > 0) throw new MediaTaskError('unreadable', 'has sound that cannot be decoded');
  if ((channelData[0]?.length ?? 0) > 0) yield soundOf(channelData, sampleRate);
}
