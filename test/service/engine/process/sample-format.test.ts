import { expect, test } from 'vitest';
import { formatProblem } from '../../../../src/service/engine/process/sample-format.ts';
import { noise, speakWords } from '../../../alignment/spoken.ts';

const SPEECH = speakWords('The old bridge over the river is open again.', 'slt').samples;

/** Writes each sample of speech in `size` bytes, as an engine would, and reads the bytes as foley does. */
function sent(
  size: number,
  write: (bytes: Buffer, sample: number, at: number) => void,
): Float32Array {
  const bytes = Buffer.alloc(size * SPEECH.length);
  for (const [index, sample] of SPEECH.entries()) write(bytes, sample, index * size);
  return Float32Array.from(
    { length: bytes.length >> 1 },
    (_, index) => bytes.readInt16LE(2 * index) / 32_768,
  );
}

const HISS = noise(1, 0.01);
const to16 = (sample: number): number => Math.round(32_767 * sample);

test.each<[string, Float32Array, string]>([
  ['floats', sent(4, (bytes, one, at) => bytes.writeFloatLE(one, at)), '32-bit floating-point'],
  [
    'floats of 16-bit size',
    sent(4, (bytes, one, at) => bytes.writeFloatLE(to16(one), at)),
    '32-bit floating-point',
  ],
  [
    'floats with reversed bytes',
    sent(4, (bytes, one, at) => bytes.writeFloatBE(one, at)),
    '32-bit samples',
  ],
  ['doubles', sent(8, (bytes, one, at) => bytes.writeDoubleLE(one, at)), '64-bit floating-point'],
  [
    'half-precision floats',
    sent(2, (bytes, one, at) => bytes.writeUInt16LE(halfOf(one), at)),
    '16-bit floating-point',
  ],
  [
    '32-bit integers',
    sent(4, (bytes, one, at) => bytes.writeInt32LE(Math.round((2 ** 31 - 1) * one), at)),
    '32-bit samples',
  ],
  [
    '16-bit numbers in 32 bits',
    sent(4, (bytes, one, at) => bytes.writeInt32LE(to16(one), at)),
    '32-bit samples',
  ],
  [
    '24-bit integers',
    sent(3, (bytes, one, at) => bytes.writeIntLE(Math.round((2 ** 23 - 1) * one), at, 3)),
    '24-bit',
  ],
  [
    'reversed bytes',
    sent(2, (bytes, one, at) => bytes.writeInt16BE(to16(one), at)),
    'bytes of each sample reversed',
  ],
  ['signed bytes', sent(1, (bytes, one, at) => bytes.writeInt8(to16(one) >> 8, at)), '8-bit'],
  [
    'unsigned bytes',
    sent(1, (bytes, one, at) => bytes.writeUInt8((to16(one) >> 8) + 128, at)),
    '8-bit',
  ],
  ['two equal channels', stereo((one) => one), 'every sample twice'],
  ['a quieter second channel', stereo((one) => 0.7 * one), 'two channels'],
  ['a silent second channel', stereo(() => 0), 'two channels'],
  ['a later second channel', stereo((_, index) => SPEECH[index - 9] ?? 0), 'two channels'],
  ['noise', noise(1, 0.2), 'sounds like noise'],
])('of %s the problem is found', (_, samples, problem) => {
  expect(formatProblem(samples)).toContain(problem);
});

test.each(['RIFF', 'RF64', 'FORM', 'caff', '.snd', 'OggS', 'fLaC', 'ID3\x03', '\x1aE\xdf\xa3'])(
  'the header %j of a file is found',
  (header) => {
    const bytes = Buffer.from(header, 'latin1');
    const begin = [0, 2].map((at) => bytes.readInt16LE(at) / 32_768);
    expect(formatProblem(Float32Array.of(...begin, ...SPEECH))).toMatch(/header of a file \(\w+\)/);
  },
);

test.each<[string, Float32Array]>([
  ['speech', SPEECH],
  ['speech at half the rate', SPEECH.filter((_, index) => index % 2 === 0)],
  ['quiet speech', SPEECH.map((one) => one / 50)],
  ['clipped speech', SPEECH.map((one) => Math.max(-1, Math.min(1, 8 * one)))],
  ['speech with noise', SPEECH.map((one, index) => one + (HISS[index % HISS.length] ?? 0))],
  ['silence', new Float32Array(16_000)],
  ['a click', Float32Array.from(SPEECH, (_, index) => (index === 500 ? 0.5 : 0))],
  ['a tone', Float32Array.from(SPEECH, (_, index) => 0.3 * Math.sin(0.3 * index))],
  ['no sound', new Float32Array()],
])('%s has no problem', (_, samples) => {
  expect(formatProblem(samples)).toBeUndefined();
});

function stereo(second: (sample: number, index: number) => number): Float32Array {
  return Float32Array.from(Array.from(SPEECH).flatMap((one, index) => [one, second(one, index)]));
}

function halfOf(sample: number): number {
  const bits = Buffer.alloc(4);
  bits.writeFloatBE(sample);
  const whole = bits.readUInt32BE();
  const exponent = ((whole >>> 23) % 256) - 112;
  const sign = sample < 0 ? 0x80_00 : 0;
  return exponent <= 0 ? sign : sign + exponent * 1024 + ((whole >>> 13) % 1024);
}
