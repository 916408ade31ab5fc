import type { AudioSampleSource } from 'mediabunny';
import { readMedia } from '../inspection/open-media.ts';
import type { AlignOrder } from './align-order.ts';
import { changeTempo } from './change-tempo.ts';
import { decodeSound } from './decode-sound.ts';
import type { Sound } from './sound.ts';
import { toAacRate } from './to-aac-rate.ts';

/** What the encoder puts before the sound, in samples, without saying so. */
const ENCODER_DELAY = 1_024;

/** Bits a second for each channel: what is asked for, at most. */
const CHANNEL_BITS = 96_000;

/**
 * Encodes the sound of a lip sync as AAC into a file of its own, at its tempo.
 * @returns what of the order is different with that file
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
