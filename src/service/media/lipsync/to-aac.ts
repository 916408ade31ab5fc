import { open as openFile } from 'node:fs/promises';
import type { AudioSampleSource, InputAudioTrack } from 'mediabunny';
import type { Resampler } from '../../../audio/resample.ts';
import { createResampler } from '../../../audio/resample.ts';
import type { DecodedSound, SoundDecoder } from '../../../audio/sound.ts';
import { filePieces } from '../../../audio/sound.ts';
import type { Sound } from '../../../audio/tempo.ts';
import { changeTempo } from '../../../audio/tempo.ts';
import { createFlacDecoder, createVorbisDecoder } from '../../../audio/wasm-decoders.ts';
import { MediaTaskError } from '../child/messages.ts';
import type { AlignParameters } from '../inspection/inspection.ts';
import { readMedia } from '../inspection/open-media.ts';

// Delay of the AAC encoder; the file does not state it.
const ENCODER_DELAY_SAMPLES = 1_024;

const CHANNEL_BIT_RATE = 96_000;

/**
 * Encodes the audio of a lip sync job as AAC in a new file, at the requested tempo.
 * @returns the task parameters with the path and the metadata of the new file. Their tempo is 1, because the new file
 * already has the requested tempo.
 */
export async function toAac(wanted: AlignParameters, path: string): Promise<AlignParameters> {
  const { audio, audioFacts, tempo } = wanted;
  const sampleRate = await readMedia(audio, async (input) => {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new TypeError('the audio file has changed since its inspection');
    const decoded = decodeSound(track, audio);
    return encode(toAacRate(tempo === 1 ? decoded : changeTempo(decoded, tempo)), path);
  });
  const start = ENCODER_DELAY_SAMPLES / sampleRate;
  const seconds = audioFacts.seconds / tempo;
  return {
    ...wanted,
    audio: path,
    audioFacts: { codec: 'aac', start, seconds, paddingSeconds: 0 },
    tempo: 1,
  };
}

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
      source = new AudioSampleSource({ codec: 'aac', bitrate: CHANNEL_BIT_RATE * sound.channels });
      output.addAudioTrack(source);
      await output.start();
    }
    rate = sound.sampleRate;
    await addSound(source, sound, frames / rate);
    frames += sound.samples.length / sound.channels;
  }
  if (source === undefined) throw new TypeError('the audio file has no sound');
  source.close();
  await output.finalize();
  return rate;
}

/** Encodes sound and appends it to an audio track. @param timestamp start of the sound in seconds */
export async function addSound(
  track: AudioSampleSource,
  { channels, sampleRate, samples }: Sound,
  timestamp: number,
): Promise<void> {
  const { AudioSample } = await import('mediabunny');
  const format = { format: 'f32', numberOfChannels: channels, sampleRate } as const;
  const sample = new AudioSample({ data: samples, ...format, timestamp });
  await track.add(sample);
  sample.close();
}

const AAC_RATES = new Set([
  8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
]);
const FALLBACK_RATE = 48_000;

async function* toAacRate(sounds: AsyncIterable<Sound>): AsyncGenerator<Sound> {
  let resamplers: readonly Resampler[] | undefined;
  for await (const sound of sounds) {
    if (AAC_RATES.has(sound.sampleRate)) {
      yield sound;
      continue;
    }
    resamplers ??= await resamplersFor(sound);
    const planes = resamplers.map((one, channel) => one.push(planeOf(sound, channel)));
    if (planes[0]?.length !== 0) yield soundOf(planes, FALLBACK_RATE);
  }
  const rest = resamplers?.map((one) => one.finish());
  for (const one of resamplers ?? []) one.close();
  if (rest !== undefined && rest[0]?.length !== 0) yield soundOf(rest, FALLBACK_RATE);
}

function resamplersFor({ channels, sampleRate }: Sound): Promise<readonly Resampler[]> {
  return Promise.all(
    Array.from({ length: channels }, () => createResampler(sampleRate, FALLBACK_RATE)),
  );
}

function planeOf({ channels, samples }: Sound, channel: number): Float32Array {
  return Float32Array.from(
    { length: samples.length / channels },
    (_, frame) => samples[frame * channels + channel] ?? 0,
  );
}

async function* decodeSound(track: InputAudioTrack, path: string): AsyncGenerator<Sound> {
  const codec = await track.getCodec();
  if (codec === 'vorbis') yield* decodeFile(path, createVorbisDecoder);
  else if (codec === 'flac') yield* decodeFlac(path);
  else yield* decodePcm(track);
}

/**
 * Decodes a FLAC file. The decoder may skip damaged frames without an error.
 * @throws MediaTaskError `unreadable` when the decoder reports errors
 */
export function decodeFlac(path: string): AsyncGenerator<Sound> {
  return decodeFile(path, createFlacDecoder);
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

async function* decodeFile(path: string, open: () => Promise<SoundDecoder>): AsyncGenerator<Sound> {
  const decoder = await open();
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    for (const piece of filePieces({ fd: file.fd, size }, PIECE_BYTES)) {
      yield* soundIn(await decoder.decode(piece));
    }
    yield* soundIn(await decoder.finish());
  } finally {
    await file.close();
    decoder.close();
  }
}

function* soundIn({ channels, isDamaged = false, sampleRate }: DecodedSound): Generator<Sound> {
  if (isDamaged) throw new MediaTaskError('unreadable', 'has sound that cannot be decoded');
  if ((channels[0]?.length ?? 0) > 0) yield soundOf(channels, sampleRate);
}

// More than two channels are mixed to mono.
function soundOf(planes: readonly Float32Array[], sampleRate: number): Sound {
  const channels = planes.length > 2 ? 1 : planes.length;
  const perChannel = planes.length / channels;
  const samples = new Float32Array((planes[0]?.length ?? 0) * channels);
  for (const [index, plane] of planes.entries()) {
    for (const [frame, sample] of plane.entries()) {
      const at = frame * channels + (index % channels);
      samples[at] = (samples[at] ?? 0) + sample / perChannel;
    }
  }
  return { samples, channels, sampleRate };
}
