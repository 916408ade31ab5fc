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
  const header = HEADERS.find(([text]) => startsWith(bytes, text));
  if (header !== undefined) return `begins with the header of a file (${header[1]})`;
  // First the longer ones: half of the bytes of 64-bit numbers may look like 32-bit numbers.
  if (isFloat(numbersIn(bytes, 8, (at) => bytes.getFloat64(at, true)))) {
    return 'has 64-bit floating-point numbers';
  }
  if (isFloat(numbersIn(bytes, 4, (at) => bytes.getFloat32(at, true)))) {
    return 'has 32-bit floating-point numbers';
  }
  if (
    isFloat(
      numbersIn(bytes, 2, (at) => float16(bytes.getUint16(at, true))),
      MOST_FLOAT_16,
    )
  ) {
    return 'has 16-bit floating-point numbers';
  }
  return integerProblem(samples, bytes);
}

const HEADERS = [
  ['RIFF', 'RIFF'],
  ['RF64', 'RF64'],
  ['FORM', 'AIFF'],
  ['caff', 'CAF'],
  ['.snd', 'AU'],
  ['OggS', 'OggS'],
  ['fLaC', 'fLaC'],
  ['ID3', 'ID3'],
  ['\x1aE\xdf\xa3', 'WebM'],
] as const;

function startsWith(bytes: DataView, text: string): boolean {
  return (
    bytes.byteLength >= text.length &&
    Array.from(text).every((letter, index) => bytes.getUint8(index) === letter.charCodeAt(0))
  );
}

function numbersIn(bytes: DataView, size: number, read: (at: number) => number): Float64Array {
  return Float64Array.from({ length: Math.floor(bytes.byteLength / size) }, (_, index) =>
    read(index * size),
  );
}

// Approximate: only the size of the numbers counts.
function float16(bits: number): number {
  const size = bits % 0x80_00;
  return size === 0 ? 0 : 2 ** (size / 1024 - 15);
}

// In 16-bit samples of speech, quiet samples below zero are no such numbers: they give huge values or NaN.
function isFloat(numbers: Float64Array, most = MOST_FLOAT): boolean {
  let count = 0;
  let usual = 0;
  for (const value of numbers) {
    if (value === 0) continue;
    count += 1;
    const size = Math.abs(value);
    if (size > LEAST_FLOAT && size <= most) usual += 1;
  }
  return count >= LEAST_NUMBERS && usual > USUAL_SHARE * count;
}

const LEAST_FLOAT = 1e-6;
// Some engines send floating-point numbers as large as 16-bit numbers.
const MOST_FLOAT = 32_768;
const MOST_FLOAT_16 = 4;
const LEAST_NUMBERS = 100;
const USUAL_SHARE = 0.98;

function integerProblem(samples: Float32Array, bytes: DataView): string | undefined {
  if (!(meanSize(samples) > LEAST_MEAN)) return undefined;
  const usual = roughness(samples);
  const isSmooth = (size: number, read: (at: number) => number): boolean =>
    usual > 2 * roughness(numbersIn(bytes, size, read));
  if (isSmooth(2, (at) => bytes.getInt16(at, false)))
    return 'has the bytes of each sample reversed';
  if (isSmooth(3, (at) => bytes.getUint16(at, true) + bytes.getInt8(at + 2) * 65_536)) {
    return 'has 24-bit samples';
  }
  const first = roughness(samples.filter((_, index) => index % 2 === 0));
  const second = roughness(samples.filter((_, index) => index % 2 === 1));
  if (Math.min(first, second) < SMOOTHER * usual) {
    return second < SMOOTHER * first ? 'has 32-bit samples' : 'has two channels, or 32-bit samples';
  }
  if (isDoubled(samples)) return 'has every sample twice, as for two channels';
  if (isBytes(numbersIn(bytes, 1, (at) => bytes.getInt8(at)))) return 'has 8-bit samples';
  return usual > MOST_ROUGH ? 'sounds like noise' : undefined;
}

const SMOOTHER = 0.9;
const MOST_ROUGH = 1.3;
const LEAST_MEAN = 1e-4;

// The mean step from sample to sample, relative to the mean sample. It is above 1 for noise.
function roughness(samples: Float32Array | Float64Array): number {
  let steps = 0;
  let sizes = 0;
  for (let index = 1; index < samples.length; index += 1) {
    const sample = samples[index] ?? 0;
    steps += Math.abs(sample - (samples[index - 1] ?? 0));
    sizes += Math.abs(sample);
  }
  return sizes === 0 ? Infinity : steps / sizes;
}

// In 16-bit samples, every second byte is noise. In 8-bit samples, all bytes are alike.
function isBytes(signed: Float64Array): boolean {
  const unsigned = signed.map((byte) => (byte < 0 ? byte + 128 : byte - 128));
  return [signed, unsigned].some((bytes) => {
    const [first, second] = [0, 1].map((odd) => bytes.filter((_, index) => index % 2 === odd));
    const ratio = meanSize(first ?? bytes) / meanSize(second ?? bytes);
    return roughness(bytes) < MOST_ROUGH_BYTES && Math.abs(Math.log2(ratio)) < MOST_UNLIKE;
  });
}

const MOST_ROUGH_BYTES = 0.7;
const MOST_UNLIKE = 0.1;

function meanSize(samples: Float32Array | Float64Array): number {
  let sum = 0;
  for (const sample of samples) sum += Math.abs(sample);
  return sum / samples.length;
}

// Both samples of a pair are more alike than samples of neighbouring pairs.
function isDoubled(samples: Float32Array): boolean {
  let [inPairs, between] = [0, 0];
  for (let index = 1; index < samples.length; index += 1) {
    const step = Math.abs((samples[index] ?? 0) - (samples[index - 1] ?? 0));
    if (index % 2 === 1) inPairs += step;
    else between += step;
  }
  return 2 * inPairs < between;
}
