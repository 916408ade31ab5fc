import { wavHead } from '../../harness/wav.ts';

/** A tone of 440 Hz in the first tenth of every second, as a wav of 16 bits. */
export function tones(seconds: number, sampleRate: number, channels: 1 | 2 = 1): Buffer {
  const frames = Math.round(seconds * sampleRate);
  const data = Buffer.alloc(frames * channels * 2);
  for (let frame = 0; frame < frames; frame += 1) {
    const time = frame / sampleRate;
    const value = time % 1 < 0.1 ? Math.sin(2 * Math.PI * 440 * time) * 16_000 : 0;
    for (let channel = 0; channel < channels; channel += 1) {
      data.writeInt16LE(Math.round(value), (frame * channels + channel) * 2);
    }
  }
  return Buffer.concat([wavHead(data.length, { sampleRate, channels }), data]);
}
