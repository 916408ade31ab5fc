import type { Resampler } from '../../engine/resample.ts';
import { createResampler } from '../../engine/resample.ts';
import type { Sound } from './sound.ts';
import { soundOf } from './sound.ts';

/** The sample rates that AAC has a name for; the encoder takes no others. */
const AAC_RATES = new Set([
  8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
]);
const OTHERWISE = 48_000;

/** Brings sound of any other rate to 48 kHz. */
export async function* toAacRate(sounds: AsyncIterable<Sound>): AsyncGenerator<Sound> {
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
