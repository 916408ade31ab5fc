/**
 * Finds out that an engine sends another format than 16-bit samples of one channel. Engines often send the format of
 * their model, which sounds like noise.
 * @param samples the samples that foley read as 16-bit numbers, from -1 to 1
 * @returns what the engine sends, as a verb phrase; undefined if the format may be right
 */
export function formatProblem(samples: Float32Array): string | undefined {
  const bytes = new DataView(new ArrayBuffer(2 * samples.length));
  samples.forEach((sample, index) => {
    bytes.setInt16(2 * index, Math.round(sample * 32_768), true);
  });
  const header = HEADERS.find((text) => startsWith(bytes, text));
  if (header !== undefined) return `begins with the header of a file (${header})`;
  // First the longer ones: half of the bytes of 64-bit numbers may look like 32-bit numbers.
  if (isFloat(numbersIn(bytes, 8))) return 'has 64-bit floating-point numbers';
  if (isFloat(numbersIn(bytes, 4))) return 'has 32-bit floating-point numbers';
  const swapped = Float32Array.from(samples, (_, index) => bytes.getInt16(2 * index, false));
  if (roughness(samples) > 2 * roughness(swapped)) return 'has the bytes of each sample reversed';
  return isDoubled(samples) ? 'has every sample twice, as for two channels' : undefined;
}

const HEADERS = ['RIFF', 'OggS', 'fLaC', 'ID3'] as const;

function startsWith(bytes: DataView, text: string): boolean {
  return (
    bytes.byteLength >= text.length &&
    Array.from(text).every((letter, index) => bytes.getUint8(index) === letter.charCodeAt(0))
  );
}

function* numbersIn(bytes: DataView, size: 4 | 8): Generator<number> {
  for (let at = 0; at + size <= bytes.byteLength; at += size) {
    yield size === 4 ? bytes.getFloat32(at, true) : bytes.getFloat64(at, true);
  }
}

// In 16-bit samples of speech, quiet samples below zero are no such numbers: they give huge values or NaN.
function isFloat(numbers: Iterable<number>): boolean {
  let count = 0;
  let usual = 0;
  for (const value of numbers) {
    if (value === 0) continue;
    count += 1;
    const size = Math.abs(value);
    if (size > LEAST_FLOAT && size < MOST_FLOAT) usual += 1;
  }
  return count >= LEAST_NUMBERS && usual > USUAL_SHARE * count;
}

const LEAST_FLOAT = 1e-6;
const MOST_FLOAT = 4;
const LEAST_NUMBERS = 100;
const USUAL_SHARE = 0.98;

// The mean step from sample to sample, relative to the mean sample. It is above 1 for noise.
function roughness(samples: Float32Array): number {
  let steps = 0;
  let sizes = 0;
  for (let index = 1; index < samples.length; index += 1) {
    const sample = samples[index] ?? 0;
    steps += Math.abs(sample - (samples[index - 1] ?? 0));
    sizes += Math.abs(sample);
  }
  return sizes === 0 ? 0 : steps / sizes;
}

function isDoubled(samples: Float32Array): boolean {
  let sounding = 0;
  let equal = 0;
  for (let index = 1; index < samples.length; index += 2) {
    if (samples[index] === 0) continue;
    sounding += 1;
    if (samples[index] === samples[index - 1]) equal += 1;
  }
  return sounding >= LEAST_NUMBERS && equal > USUAL_SHARE * sounding;
}
