import type { AudioFormat } from '../../../contract/audio-formats.ts';

/** Samples at 44.1 kHz that the encoder (576) and every decoder (529) of mp3 put before the sound. */
const MP3_DELAY_SAMPLES = 1_105;
const MP3_SAMPLE_RATE = 44_100;

/**
 * How much later than it was spoken a sound is heard when a stream of the format is decoded, in
 * milliseconds. An mp3 that begins with an Info tag has no delay, but a stream has none.
 */
export function codecDelayMs(format: AudioFormat): number {
  return format === 'mp3' ? (MP3_DELAY_SAMPLES * 1000) / MP3_SAMPLE_RATE : 0;
}
