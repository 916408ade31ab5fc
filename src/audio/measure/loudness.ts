/** Integrated loudness as ITU-R BS.1770-4 defines it, of sound that comes in pieces of any length. */

/** A filter of second order, in direct form 2 transposed, with what it remembers of one channel. */
interface Filter {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

/** The loudness of everything was measured in blocks of this length… */
const BLOCK_SECONDS = 0.4;
/** …each of which begins a quarter of a block after the one before. */
const STEPS_A_BLOCK = 4;
/** Blocks below this are silence. */
const ABSOLUTE_GATE_LUFS = -70;
/** Blocks this much below the others are pauses. */
const RELATIVE_GATE_LU = -10;
const OFFSET_LUFS = -0.691;
/** What the two channels at the back of a surround recording count for. */
const SURROUND_WEIGHT = 1.41;
const FIRST_SURROUND = 3;

/** Measures the loudness of sound with one rate and a fixed number of channels. */
export class LoudnessMeter {
  readonly #channels: ChannelMeter[];
  readonly #stepLength: number;
  /** Energy of each quarter of a block. */
  readonly #steps: number[] = [];
  #inStep = 0;
  #energy = 0;

  constructor(channels: number, sampleRate: number) {
    const filters = [shelf(sampleRate), highPass(sampleRate)] as const;
    this.#channels = Array.from({ length: channels }, (_, index) => {
      const isSurround = channels > FIRST_SURROUND && index >= FIRST_SURROUND;
      return new ChannelMeter(filters, isSurround ? SURROUND_WEIGHT : 1);
    });
    this.#stepLength = Math.round((sampleRate * BLOCK_SECONDS) / STEPS_A_BLOCK);
  }

  /** The next samples of each channel, from -1 to 1, all of one length. */
  write(channels: readonly Float32Array[]): void {
    const length = channels[0]?.length ?? 0;
    for (let from = 0; from < length;) {
      const to = Math.min(length, from + this.#stepLength - this.#inStep);
      for (const [index, samples] of channels.entries()) {
        this.#energy += this.#channels[index]?.energyOf(samples, from, to) ?? 0;
      }
      this.#inStep += to - from;
      from = to;
      if (this.#inStep === this.#stepLength) this.#endStep();
    }
  }

  /** Of all that was written, in LUFS; `undefined` where it is silent or shorter than a block. */
  get integrated(): number | undefined {
    const blocks = this.#blocks().filter((energy) => lufs(energy) > ABSOLUTE_GATE_LUFS);
    if (blocks.length === 0) return undefined;
    const gate = lufs(mean(blocks)) + RELATIVE_GATE_LU;
    return lufs(mean(blocks.filter((energy) => lufs(energy) > gate)));
  }

  #endStep(): void {
    this.#steps.push(this.#energy / this.#stepLength);
    this.#energy = 0;
    this.#inStep = 0;
  }

  #blocks(): number[] {
    const count = Math.max(0, this.#steps.length - STEPS_A_BLOCK + 1);
    return Array.from({ length: count }, (_, first) =>
      mean(this.#steps.slice(first, first + STEPS_A_BLOCK)),
    );
  }
}

/** One channel: weighted as the head and the ear do. */
class ChannelMeter {
  readonly #filters: readonly [Filter, Filter];
  readonly #weight: number;
  readonly #memory = new Float64Array(4);

  constructor(filters: readonly [Filter, Filter], weight: number) {
    this.#filters = filters;
    this.#weight = weight;
  }

  energyOf(samples: Float32Array, from: number, to: number): number {
    const [first, second] = this.#filters;
    const memory = this.#memory;
    let [p = 0, q = 0, r = 0, s = 0] = memory;
    let energy = 0;
    for (let index = from; index < to; index += 1) {
      const sample = samples[index] ?? 0;
      const x = Number.isFinite(sample) ? sample : 0;
      const y = first.b[0] * x + p;
      p = first.b[1] * x - first.a[0] * y + q;
      q = first.b[2] * x - first.a[1] * y;
      const z = second.b[0] * y + r;
      r = second.b[1] * y - second.a[0] * z + s;
      s = second.b[2] * y - second.a[1] * z;
      energy += z * z;
    }
    memory.set([p, q, r, s]);
    return energy * this.#weight;
  }
}

/** The head: a shelf that lifts what is high by 4 dB. The figures are those of the recommendation, for any rate. */
function shelf(sampleRate: number): Filter {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate);
  const quality = 0.7071752369554196;
  const high = 10 ** (3.999843853973347 / 20);
  const band = high ** 0.4996667741545416;
  const scale = 1 + k / quality + k * k;
  return {
    b: [
      (high + (band * k) / quality + k * k) / scale,
      (2 * (k * k - high)) / scale,
      (high - (band * k) / quality + k * k) / scale,
    ],
    a: [(2 * (k * k - 1)) / scale, (1 - k / quality + k * k) / scale],
  };
}

/** The ear: hardly anything below 38 Hz. */
function highPass(sampleRate: number): Filter {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const quality = 0.5003270373238773;
  const scale = 1 + k / quality + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / scale, (1 - k / quality + k * k) / scale] };
}

function lufs(energy: number): number {
  return OFFSET_LUFS + 10 * Math.log10(energy);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
