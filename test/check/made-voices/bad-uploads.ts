import type { FormPart, MultipartBody } from '../../harness/multipart-body.ts';
import { multipartBody } from '../../harness/multipart-body.ts';
import { silentFlac } from '../../harness/silent-flac.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';
import { writeWav } from '../../harness/wav.ts';

/** A body that no voice is made of, with what is said of it. */
export interface BadUpload {
  readonly what: string;
  readonly body: Pick<MultipartBody, 'bytes'> & {
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly status: 400 | 413 | 415;
  readonly message: RegExp;
}

/** Sound as the service itself makes it. */
export interface Encoded {
  readonly mp3: Buffer;
  readonly ogg: Buffer;
}

const TEN_MEGABYTES = 10_485_760;
const RATE = 16_000;
const { samples } = referenceVoice({ medianHz: 120, seconds: 1, sampleRate: RATE });
const GOOD = writeWav(samples, RATE);
const NAME: FormPart = { name: 'name', value: 'Bad' };

/** Every way in which an upload is wrong that the tests know. */
export function badUploads({ mp3, ogg }: Encoded): readonly BadUpload[] {
  return [...contents(mp3, ogg), ...names(), ...forms()];
}

function contents(mp3: Buffer, ogg: Buffer): readonly BadUpload[] {
  return [
    file('zero bytes', 'zero.wav', Buffer.alloc(0), /"zero\.wav" is empty/),
    file(
      'a text with the name of audio',
      'text.mp3',
      Buffer.from('Only a text.\n'.repeat(99)),
      /is not an audio file/,
    ),
    file('a page', 'page.mp3', Buffer.from('<!doctype html><title>404</title>'), /is html/),
    file('a picture', 'picture.wav', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), /is png/),
    file('an archive', 'archive.flac', Buffer.from('1f8b0800000000000003', 'hex'), /is gzip/),
    file(
      '10 MB and a byte',
      'large.wav',
      Buffer.alloc(TEN_MEGABYTES + 1),
      /has 10485761 bytes; allowed: at most 10485760/,
    ),
    file('a cut wav', 'cut.wav', half(GOOD), /is cut/),
    file('a cut mp3', 'cut.mp3', half(mp3), /is cut/),
    file('a cut ogg', 'cut.ogg', half(ogg), /is cut/),
    file('a cut flac', 'cut.flac', half(silentFlac({ seconds: 120 })), /is damaged or cut: only/),
    file('a head of wav alone', 'head.wav', GOOD.subarray(0, 44), /is cut|no samples/),
    file('four bytes', 'four.ogg', Buffer.from('OggS'), /is cut/),
    file('damaged ogg', 'damaged.ogg', flipped(ogg), /page|damaged|broken|checksum|is cut/),
    file(
      'hours of silence in 18 kB',
      'hours.flac',
      silentFlac({ seconds: 10_800 }),
      /10805\.1 s long; allowed: 0\.5 to 900/,
    ),
    file(
      'hours that the header does not state',
      'untold.flac',
      silentFlac({ seconds: 10_800, toldSamples: 0 }),
      /is more than .* allowed: 0\.5 to 900/,
    ),
    file('hours in a small wav', 'hours.wav', slowWav(7_200_000), /900 seconds/),
    file('silence', 'silent.wav', writeWav(new Float32Array(RATE), RATE), /is silent/),
    file('noise', 'noise.wav', writeWav(noise(RATE * 2), RATE), /contain no speech/),
    file(
      'a tone',
      'tone.wav',
      writeWav(tone(RATE * 2), RATE),
      /contain no speech; record a person/,
    ),
    file('a thousand channels', 'many.wav', layout(1_000, 8_000), /has 1000 channels; at most 8/),
    file(
      'a few samples a second',
      'slow.wav',
      layout(1, 10),
      /has 10 samples a second; allowed: 4000/,
    ),
    file('a billion samples a second', 'fast.wav', layout(1, 1e9), /0 s long; allowed/),
    file(
      'less than half a second',
      'short.wav',
      writeWav(samples.subarray(0, 7_000), RATE),
      /0\.4 s long; allowed: 0\.5/,
    ),
    file('samples of an unsupported kind', 'mulaw.wav', coded(GOOD, 7), /with unsupported samples/),
    file(
      'm4a',
      'song.m4a',
      Buffer.from('\0\0\0\x20ftypM4A \0\0\0\0'.padEnd(99, '\0'), 'latin1'),
      /is damaged: /,
    ),
    file(
      'a video',
      'film.mp4',
      Buffer.from('\0\0\0\x20ftypisom\0\0\0\0'.padEnd(99, '\0'), 'latin1'),
      /is damaged: /,
    ),
    file(
      'webm',
      'film.webm',
      Buffer.from('1a45dfa39f4286810142f78101', 'hex'),
      /is damaged or cut/,
    ),
    file('aac', 'song.aac', Buffer.from('fff150800d7ffc21', 'hex'), /is damaged or cut/),
    file(
      'ogg without an audio track',
      'film.ogg',
      theora(ogg),
      /unsupported codec|no sound|page|is cut/,
    ),
    {
      ...file(
        'one good file and a bad one',
        'bad.wav',
        Buffer.from('text'),
        /"bad\.wav" is not an audio file/,
      ),
      body: multipartBody([NAME, part('good.wav', GOOD), part('bad.wav', Buffer.from('text'))]),
    },
  ];
}

function names(): readonly BadUpload[] {
  return [
    file('another extension', 'voice.txt', GOOD, /ends in "txt"; allowed: aac, flac/),
    file('no extension', 'voice', GOOD, /has no extension/),
    file('nothing before the extension', '.wav', GOOD, /has no extension/),
    file('a path', '../../voice.wav', GOOD, /is a path/),
    file('a path of another system', 'C:\\\\voice.wav', GOOD, /is a path/),
    file('a name that is no UTF-8', 'v\xfficex.wav', GOOD, /not valid UTF-8/),
    file('control characters in a name', 'v\x01.wav', GOOD, /not a multipart form/),
    file('no name', '', GOOD, /has no name/),
  ];
}

function forms(): readonly BadUpload[] {
  const good = multipartBody([NAME, part('good.wav', GOOD)]);
  const many = Array.from({ length: 11 }, (_, index) => part(`${index}.wav`, GOOD));
  const raw = (
    what: string,
    headers: Readonly<Record<string, string>>,
    [bytes, message, status = 400]: readonly [Buffer, RegExp, BadUpload['status']?],
  ): BadUpload => ({ what, body: { bytes, headers }, status, message });
  return [
    form('eleven files', [NAME, ...many], /has more than 10 files/),
    form('no file', [NAME], /audioFiles is missing/),
    form(
      'text in the place of a file',
      [NAME, { name: 'audioFiles', value: 'text' }],
      /is text; allowed: a file/,
    ),
    form('no name of the voice', [part('good.wav', GOOD)], /name is missing/),
    form('two names', [NAME, NAME, part('good.wav', GOOD)], /"name" is given more than once/),
    form(
      'a field that is no UTF-8',
      [{ name: 'name', value: Buffer.from([0xff, 0xfe]) }, part('good.wav', GOOD)],
      /"name" is not valid UTF-8/,
    ),
    form(
      'a field that never ends',
      [{ name: 'name', value: 'a'.repeat(99_999) }, part('good.wav', GOOD)],
      /more than 65536 bytes/,
    ),
    form(
      'languages that are no list',
      [NAME, { name: 'languages', value: 'en' }, part('good.wav', GOOD)],
      /languages is "en"; allowed: a JSON array/,
    ),
    raw('no boundary', type('multipart/form-data'), [good.bytes, /has no boundary/]),
    raw('another boundary', type('multipart/form-data; boundary=other'), [
      good.bytes,
      /last boundary is missing|not a multipart form/,
    ]),
    raw('nothing', good.headers, [
      Buffer.alloc(0),
      /last boundary is missing|not a multipart form/,
    ]),
    raw('a form without its end', good.headers, [
      good.bytes.subarray(0, -20),
      /last boundary is missing/,
    ]),
    raw('bytes that are no form', good.headers, [
      GOOD,
      /last boundary is missing|not a multipart form/,
    ]),
    raw('a part without an end of its head', good.headers, [
      Buffer.from(`--boundary-of-the-tests\r\n${'x'.repeat(30_000)}`),
      /last boundary is missing|not a multipart form/,
    ]),
    raw('JSON', type('application/json'), [
      Buffer.from('{}'),
      /Content-Type must be multipart\/form-data/,
      415,
    ]),
    raw('a packed form', { ...good.headers, 'Content-Encoding': 'gzip' }, [
      good.bytes,
      /Content-Encoding is not supported/,
      415,
    ]),
  ];
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length / 2) + 7);
}

function type(value: string): Readonly<Record<string, string>> {
  return { 'Content-Type': value };
}

function form(what: string, parts: readonly FormPart[], message: RegExp): BadUpload {
  return { what, body: multipartBody(parts), status: 400, message };
}

function part(fileName: string, value: Uint8Array): FormPart {
  return { name: 'audioFiles', fileName, value };
}

function file(what: string, fileName: string, value: Uint8Array, message: RegExp): BadUpload {
  return { what, body: multipartBody([NAME, part(fileName, value)]), status: 400, message };
}

/** The same header with another code of how samples are written. */
function coded(wav: Buffer, code: number): Buffer {
  const copy = Buffer.from(wav);
  copy.writeUInt16LE(code, 20);
  return copy;
}

/** A wav of so many samples that says it has one a millisecond. */
function slowWav(count: number): Buffer {
  const bytes = Buffer.alloc(44 + count, 128);
  writeWav(new Float32Array(0), 1_000).copy(bytes);
  bytes.writeUInt32LE(36 + count, 4);
  bytes.writeUInt32LE(1_000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.writeUInt32LE(count, 40);
  return bytes;
}

/** A wav of silence that says it is laid out so. */
function layout(channels: number, sampleRate: number): Buffer {
  const bytes = writeWav(new Float32Array(channels * 800), sampleRate);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(Math.min(sampleRate * channels * 2, 0xffff_ffff), 28);
  bytes.writeUInt16LE(channels * 2, 32);
  return bytes;
}

/** An ogg whose codec is another: its first page is then wrong too. */
function theora(ogg: Buffer): Buffer {
  const copy = Buffer.from(ogg);
  copy.write('\x80theora', copy.indexOf('\x01vorbis', 0, 'latin1'), 'latin1');
  return copy;
}

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = Math.floor(copy.length / 2);
  copy.fill(0x55, at, at + 40);
  return copy;
}

/** A tone of 220 Hz. */
function tone(count: number): Float32Array {
  return Float32Array.from(
    { length: count },
    (_, at) => Math.sin((2 * Math.PI * 220 * at) / RATE) / 2,
  );
}

/** White noise, the same each time. */
function noise(count: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647 - 0.5;
  });
}
