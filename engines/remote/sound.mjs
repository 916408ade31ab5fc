// The sound that a server sends: wav, or raw samples, checked and converted.

import { isPage, ServerError } from './requests.mjs';

/** Raw samples of this interface have this rate if the server does not name another. */
const PCM_RATE = 24_000;

/** Values of the sizes in a wav header whose writer did not know the length. */
const UNKNOWN_SIZES = new Set([0, 0x7fffffff, 0x80000000, 0xffffffff]);
const UNKNOWN_FROM = 0xfffff000;

/**
 * @typedef {{ readonly samples: Float32Array, readonly sampleRate: number }} Sound mono samples from -1 to 1
 */

/**
 * Reads the sound of an answer.
 * @param {import('./requests.mjs').Answer} answer
 * @param {string} origin names the server in messages
 * @param {'pcm' | 'wav'} wanted
 * @returns {Sound}
 * @throws {ServerError} if the answer is something else, or cut off
 */
export function readSound({ body, headers }, origin, wanted) {
  const type = headers['content-type'] ?? 'no type';
  if (isPage(body, headers)) throw wrong(origin, 'answered with an HTML page instead of audio');
  if (body.length === 0) throw wrong(origin, 'answered without audio');
  if (body.toString('latin1', 0, 4) === 'RIFF') return readWav(body, origin);
  const other = otherFormat(body);
  if (other !== undefined || wanted === 'wav') {
    throw wrong(origin, `sent ${other ?? type} although ${wanted} was asked for`);
  }
  if (body.length % 2 === 1) throw wrong(origin, 'cut its samples off in the middle of one');
  const named = Number(/rate=(\d+)/.exec(type)?.[1] ?? headers['x-sample-rate'] ?? PCM_RATE);
  return { samples: integers(body, 2), sampleRate: requireRate(named, origin) };
}

/**
 * @param {string} origin
 * @param {string} what
 */
function wrong(origin, what) {
  return new ServerError(`${origin} ${what}`, 'broken');
}

/** @param {Buffer} body */
function otherFormat(body) {
  const start = body.toString('latin1', 0, 4);
  if (start.startsWith('ID3') || (body[0] === 0xff && ((body[1] ?? 0) & 0xe0) === 0xe0))
    return 'mp3';
  if (start === 'OggS') return 'ogg';
  if (start === 'fLaC') return 'flac';
  return start.startsWith('{') ? 'JSON' : undefined;
}

/**
 * @param {Buffer} body
 * @param {string} origin
 * @returns {Sound}
 */
function readWav(body, origin) {
  /** @type {{ code: number, channels: number, rate: number, bytes: number } | undefined} */
  let format;
  for (let at = 12; at + 8 <= body.length;) {
    const name = body.toString('latin1', at, at + 4);
    const size = body.readUInt32LE(at + 4);
    const start = at + 8;
    if (name === 'fmt ' && start + 16 <= body.length) {
      const code = body.readUInt16LE(start);
      format = {
        // The format of WAVE_FORMAT_EXTENSIBLE is the first field of its GUID.
        code: code === 0xfffe && size >= 26 ? body.readUInt16LE(start + 24) : code,
        channels: body.readUInt16LE(start + 2),
        rate: body.readUInt32LE(start + 4),
        bytes: body.readUInt16LE(start + 14) / 8,
      };
    }
    if (name === 'data') {
      if (format === undefined) break;
      const isKnown = !UNKNOWN_SIZES.has(size) && size < UNKNOWN_FROM;
      if (isKnown && start + size > body.length) {
        throw wrong(origin, `cut its audio off: ${body.length - start} of ${size} bytes arrived`);
      }
      const end = isKnown ? start + size : body.length;
      const samples = decoded(body.subarray(start, end), format, origin);
      return { samples, sampleRate: requireRate(format.rate, origin) };
    }
    at = start + size + (size % 2);
  }
  throw wrong(origin, 'sent a wav file without sound');
}

/**
 * @param {Buffer} data
 * @param {{ readonly code: number, readonly channels: number, readonly bytes: number }} format
 * @param {string} origin
 */
function decoded(data, { bytes, channels, code }, origin) {
  const isFloat = code === 3 && bytes === 4;
  if (!isFloat && !(code === 1 && [2, 3, 4].includes(bytes))) {
    throw wrong(origin, `sent wav of an unknown kind (format ${code}, ${bytes * 8} bits)`);
  }
  if (channels < 1 || channels > 8) throw wrong(origin, `sent wav with ${channels} channels`);
  const whole = data.subarray(0, data.length - (data.length % (bytes * channels)));
  const all = isFloat ? floats(whole) : integers(whole, bytes);
  return channels === 1 ? all : mixed(all, channels);
}

/** @param {Buffer} data */
function floats(data) {
  return Float32Array.from({ length: data.length / 4 }, (_, index) => data.readFloatLE(index * 4));
}

/**
 * @param {Buffer} data
 * @param {number} bytes
 */
function integers(data, bytes) {
  const full = 2 ** (bytes * 8 - 1);
  return Float32Array.from(
    { length: data.length / bytes },
    (_, index) => data.readIntLE(index * bytes, bytes) / full,
  );
}

/**
 * @param {Float32Array} all
 * @param {number} channels
 */
function mixed(all, channels) {
  return Float32Array.from({ length: all.length / channels }, (_, index) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += all[index * channels + channel] ?? 0;
    }
    return sum / channels;
  });
}

/**
 * @param {number} rate
 * @param {string} origin
 */
function requireRate(rate, origin) {
  if (Number.isInteger(rate) && rate >= 8_000 && rate <= 48_000) return rate;
  throw wrong(origin, `sent audio with ${rate} samples a second; from 8000 to 48000 are possible`);
}

/** Half the length of the low-pass filter, in zero crossings. */
const CROSSINGS = 16;

/**
 * Converts a sound to another sample rate, with a windowed sinc filter.
 * @param {Sound} sound
 * @param {number} rate
 */
export function resampled({ sampleRate, samples }, rate) {
  if (sampleRate === rate) return samples;
  const step = sampleRate / rate;
  // The filter removes what the lower of the two rates cannot have.
  const cutoff = Math.min(1, 1 / step) * 0.97;
  const reach = CROSSINGS / cutoff;
  return Float32Array.from({ length: Math.round(samples.length / step) }, (_, index) => {
    const center = index * step;
    let sum = 0;
    const last = Math.min(samples.length - 1, Math.floor(center + reach));
    for (let at = Math.max(0, Math.ceil(center - reach)); at <= last; at += 1) {
      const x = (at - center) * cutoff;
      const window = 0.5 + 0.5 * Math.cos((Math.PI * (at - center)) / reach);
      sum += (samples[at] ?? 0) * (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)) * window;
    }
    return sum * cutoff;
  });
}
