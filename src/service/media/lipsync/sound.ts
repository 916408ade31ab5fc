/** Decoded sound on its way: frames of interleaved samples in -1..1. */
export interface Sound {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly channels: number;
  readonly sampleRate: number;
}

/** Interleaves planes of samples; more than two become one, their average. */
export function soundOf(planes: readonly Float32Array[], sampleRate: number): Sound {
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
