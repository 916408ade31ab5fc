import { open } from 'node:fs/promises';
import type { Sonic } from '@echogarden/sonic-wasm';
import type { AudioSampleSource, InputAudioTrack } from 'mediabunny';
import { FLAC_TAIL } from '../../../audio/decode.ts';
import type { Resampler } from '../../engine/resample.ts';
import { createResampler } from '../../engine/resample.ts';
import { MediaTaskError } from '../child/messages.ts';
import { readMedia } from '../inspection/open-media.ts';
import type { AlignOrder } from './align-order.ts';

/** Delay of the encoder in samples, which it does not state in the file. */
const ENCODER_DELAY = 1_024;

/** Highest bit rate for each channel. */
const CHANNEL_BITS = 96_000;

/**
 * Encodes the sound of a lip sync as AAC into a file of its own, at its tempo.
 * @returns the changed fields of the order
 */
export async function toAac(
  { audio, audioFacts, tempo }: AlignOrder,
  path: string,
): Promise<Pick<AlignOrder, 'audio' | 'audioFacts' | 'tempo'>> {
  const sampleRate = await readMedia(audio, async (input) => {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new TypeError('the sound is not what it was');
    const decoded = decodeSound(track, audio);
    return encode(toAacRate(tempo === 1 ? decoded : changeTempo(decoded, tempo)), path);
  });
  const start = ENCODER_DELAY / sampleRate;
  const seconds = audioFacts.seconds / tempo;
  return {
    audio: path,
    audioFacts: { codec: 'aac', start, seconds, paddingSeconds: 0 },
    tempo: 1,
  };
}

/** @returns the sample rate */
async function encode(sounds: AsyncIterable<Sound>, path: string): Promise<number> {
  const [{ AudioSampleSource, FilePathTarget, Mp4OutputFormat, Output }, { registerAacEncoder }] =
    await Promise.all([import('mediabunny'), import('@mediabunny/aac-encoder')]);
  registerAacEncoder();
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: false }),
    target: new FilePathTarget(path),
  });
  let source: AudioSampleSource | undefined;
  let frames = 0;
  let rate = 0;
  for await (const sound of sounds) {
    if (source === undefined) {
      source = new AudioSampleSource({ codec: 'aac', bitrate: CHANNEL_BITS * sound.channels });
      output.addAudioTrack(source);
      await output.start();
    }
    rate = sound.sampleRate;
    await add(source, sound, frames / rate);
    frames += sound.samples.length / sound.channels;
  }
  if (source === undefined) throw new TypeError('there was no sound');
  source.close();
  await output.finalize();
  return rate;
}

async function add(
  source: AudioSampleSource,
  { channels, sampleRate, samples }: Sound,
  timestamp: number,
): Promise<void> {
  const { AudioSample } = await import('mediabunny');
  const sample = new AudioSample({
    data: samples,
    format: 'f32',
    numberOfChannels: channels,
    sampleRate,
    timestamp,
  });
  await source.add(sample);
  sample.close();
}

/** Sample rates of AAC; the encoder refuses others. */
const AAC_RATES = new Set([
  8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
]);
const OTHERWISE = 48_000;

/** Resamples sound of any other rate to 48 kHz. */
async function* toAacRate(sounds: AsyncIterable<Sound>): AsyncGenerator<Sound> {
  let resamplers: readonly Resampler[] | undefined;
  for await (const sound of sounds) {
    if (AAC_RATES.has(sound.sampleRate)) {
      yield sound;
      continue;
    }
    resamplers ??= await resamplersFor(sound);
    const planes = resamplers.map((one, channel) => one.push(planeOf(sound, channel)));
    if (planes[0]?.length !== 0) yield soundOf(planes, OTHERWISE);
  }
  const rest = resamplers?.map((one) => one.finish());
  for (const one of resamplers ?? []) one.close();
  if (rest !== undefined && rest[0]?.length !== 0) yield soundOf(rest, OTHERWISE);
}

function resamplersFor({ channels, sampleRate }: Sound): Promise<readonly Resampler[]> {
  return Promise.all(
    Array.from({ length: channels }, () => createResampler(sampleRate, OTHERWISE)),
  );
}

function planeOf({ channels, samples }: Sound, channel: number): Float32Array {
  return Float32Array.from(
    { length: samples.length / channels },
    (_, frame) => samples[frame * channels + channel] ?? 0,
  );
}

/** Decodes the sound of a track: plain samples of any kind, Ogg Vorbis and FLAC. */
async function* decodeSound(track: InputAudioTrack, path: string): AsyncGenerator<Sound> {
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

/** Decodes a FLAC file without its damaged frames. */
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

/** Frames that are read at once. */
const ROOM = 8_192;
const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Makes sound faster (above 1) or slower at the same pitch. The number of frames is exact: divided by tempo, rounded. */
export async function* changeTempo(
  sounds: AsyncIterable<Sound>,
  tempo: number,
): AsyncGenerator<Sound> {
  const { default: load } = await import('@echogarden/sonic-wasm');
  const sonic = await load();
  let stream: TempoStream | undefined;
  let waiting = new Float32Array(0);
  let owed = 0;
  for await (const sound of sounds) {
    const { channels, sampleRate } = sound;
    stream ??= new TempoStream(sonic, sound, tempo);
    owed += sound.samples.length / channels / tempo;
    waiting = joined([waiting, ...stream.push(sound)]);
    // The stream may be ahead of its input.
    const samples = waiting.slice(0, Math.floor(owed) * channels);
    waiting = waiting.slice(samples.length);
    owed -= samples.length / channels;
    if (samples.length > 0) yield { samples, channels, sampleRate };
  }
  if (stream === undefined) return;
  const { channels, sampleRate } = stream.form;
  const samples = new Float32Array(Math.round(owed) * channels);
  samples.set(joined([waiting, ...stream.finish()]).subarray(0, samples.length));
  if (samples.length > 0) yield { samples, channels, sampleRate };
}

/** A stream of the WebAssembly module. It is never freed: the process ends with the task. */
class TempoStream {
  readonly #sonic: Sonic;
  readonly form: Omit<Sound, 'samples'>;
  readonly #stream: number;
  readonly #room: number;

  constructor(sonic: Sonic, { channels, sampleRate }: Sound, tempo: number) {
    this.#sonic = sonic;
    this.form = { channels, sampleRate };
    this.#stream = sonic._sonicCreateStream(sampleRate, channels);
    this.#room = sonic._malloc(ROOM * channels * SAMPLE_BYTES);
    if (this.#stream === 0 || this.#room === 0) throw new Error('there is no memory for the tempo');
    sonic._sonicSetSpeed(this.#stream, tempo);
  }

  *push({ samples }: Sound): Generator<Float32Array> {
    const { channels } = this.form;
    for (let at = 0; at < samples.length; at += ROOM * channels) {
      const piece = samples.subarray(at, at + ROOM * channels);
      this.#sonic.HEAPF32.set(piece, this.#room / SAMPLE_BYTES);
      const frames = piece.length / channels;
      if (this.#sonic._sonicWriteFloatToStream(this.#stream, this.#room, frames) === 0) {
        throw new Error('there is no memory for the tempo');
      }
      yield* this.#read();
    }
  }

  /** Returns the rest of the sound. */
  *finish(): Generator<Float32Array> {
    this.#sonic._sonicFlushStream(this.#stream);
    yield* this.#read();
  }

  *#read(): Generator<Float32Array> {
    const { channels } = this.form;
    for (;;) {
      const frames = this.#sonic._sonicReadFloatFromStream(this.#stream, this.#room, ROOM);
      if (frames === 0) return;
      const start = this.#room / SAMPLE_BYTES;
      yield this.#sonic.HEAPF32.slice(start, start + frames * channels);
    }
  }
}

function joined(parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Decoded sound on its way: frames of interleaved samples in -1..1. */
export interface Sound {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly channels: number;
  readonly sampleRate: number;
}

/** Interleaves planes of samples; more than two become one, their average. */
function soundOf(planes: readonly Float32Array[], sampleRate: number): Sound {
  const frames = planes[0]?.length ?? 0;
  if (planes.length > 2) return { samples: average(planes, frames), channels: 1, sampleRate };
  const samples = new Float32Array(frames * planes.length);
  for (const [channel, plane] of planes.entries()) {
    for (let frame = 0; frame < frames; frame += 1) {
      samples[frame * planes.length + channel] = plane[frame] ?? 0;
    }
  }
  return { samples, channels: planes.length, sampleRate };
}

function average(planes: readonly Float32Array[], frames: number): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(frames);
  for (const plane of planes) {
    for (let frame = 0; frame < frames; frame += 1) {
      samples[frame] = (samples[frame] ?? 0) + (plane[frame] ?? 0) / planes.length;
    }
  }
  return samples;
}
