import { Failure } from '../../errors/failure.ts';
import type { Correction } from '../reader.ts';
import { SKIP_TO_END, tagAt } from '../reader.ts';
import {
  CHUNK_HEAD_BYTES,
  FORMAT_BYTES,
  LARGEST_WAV_LENGTH,
  RIFF_BYTES,
  isUnknownWavLength,
} from '../wav.ts';
import { Joiner, badPart } from './joiner.ts';

const BYTES_PER_RAW_SAMPLE = 2;
const USUAL_RAW_RATE = 24_000;

/** Joins files of raw 16-bit mono samples. */
export class PcmJoiner extends Joiner {
  readonly #sampleRate: (() => number | undefined) | undefined;

  /** @param sampleRate function that returns the sample rate in Hz; default rate: 24,000 */
  constructor(sampleRate?: () => number | undefined) {
    super(1);
    this.#sampleRate = sampleRate;
  }

  step(): void {
    this.pushSilence(this.takeSilence());
    this.skip = SKIP_TO_END;
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    this.push(bytes.subarray(from, to));
  }

  protected override finishPart(): void {
    // Raw samples have no end that can be verified.
  }

  protected override pushSilence(ms: number): void {
    const rate = ms === 0 ? undefined : this.#sampleRate?.();
    const samples = Math.round((ms * (rate ?? USUAL_RAW_RATE)) / 1000);
    this.pushRepeated(new Uint8Array(BYTES_PER_RAW_SAMPLE), samples);
  }

  starts(): readonly number[] {
    return [];
  }

  durationMs(): number {
    return 0;
  }
}

const FORMAT_MAX = 64;

/** Joins WAV files. The output has one header, followed by the samples of all files. */
export class WavJoiner extends Joiner {
  readonly #isSeekable: boolean;
  #format: Uint8Array | undefined;
  #dataBytes = 0;
  readonly #before: number[] = [];
  #hasFormat = false;
  #hasSamples = false;
  #headLeft = 0;
  #samplesLeft = 0;

  constructor(isSeekable: boolean) {
    super(RIFF_BYTES);
    this.#isSeekable = isSeekable;
  }

  step(bytes: Uint8Array, at: number, position: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, this.want);
    const id = tagAt(bytes, at);
    if (position === 0) return this.#stepRiff(id, tagAt(bytes, at + 8));
    const size = view.getUint32(4, true);
    if (id === 'fmt ' && !this.#hasFormat) return this.#stepFormat(view, size);
    if (id === 'data' && !this.#hasSamples) return this.#stepSamples(size);
    return this.#skipChunk(size);
  }

  passed(bytes: Uint8Array, from: number, to: number): void {
    const head = Math.min(this.#headLeft, to - from);
    this.#headLeft -= head;
    const samples = Math.min(this.#samplesLeft, to - from - head);
    if (samples === 0) return;
    this.#samplesLeft -= samples;
    this.#addSamples(bytes.subarray(from + head, from + head + samples));
  }

  protected override finishPart(): void {
    if (!this.#hasSamples) throw badPart('one has no samples');
    this.#hasFormat = false;
    this.#hasSamples = false;
    this.#headLeft = 0;
    this.#samplesLeft = 0;
  }

  #stepRiff(id: string, form: string): void {
    if (id !== 'RIFF' || form !== 'WAVE') throw badPart('one is not WAV');
    this.skip = RIFF_BYTES;
    this.want = CHUNK_HEAD_BYTES;
  }

  #stepFormat(view: DataView, size: number): void {
    if (size < FORMAT_BYTES || size > FORMAT_MAX) throw badPart('one has an unusual WAV format');
    if (this.want < CHUNK_HEAD_BYTES + size) {
      this.want = CHUNK_HEAD_BYTES + size;
      return;
    }
    this.#hasFormat = true;
    this.#addFormat(new Uint8Array(view.buffer, view.byteOffset + CHUNK_HEAD_BYTES, size).slice());
    this.#skipChunk(size);
  }

  #stepSamples(size: number): void {
    if (!this.#hasFormat) throw badPart('one has samples before their format');
    this.#hasSamples = true;
    this.#headLeft = CHUNK_HEAD_BYTES;
    const isStreamed = isUnknownWavLength(size);
    this.#samplesLeft = isStreamed ? SKIP_TO_END : size;
    if (isStreamed) this.skip = SKIP_TO_END;
    else this.#skipChunk(size);
  }

  #skipChunk(size: number): void {
    this.skip = CHUNK_HEAD_BYTES + size + (size % 2);
    this.want = CHUNK_HEAD_BYTES;
  }

  #addFormat(format: Uint8Array): void {
    if (this.#format === undefined) {
      this.#format = format;
      this.push(wavHead(format, LARGEST_WAV_LENGTH));
    } else if (Buffer.compare(this.#format, format) !== 0) {
      throw badPart('their WAV formats differ');
    }
    this.pushSilence(this.takeSilence());
    this.#before.push(this.#dataBytes);
  }

  protected override pushSilence(ms: number): void {
    const format = this.#format ?? EMPTY;
    if (ms === 0 || format.length < FORMAT_BYTES) return;
    const view = new DataView(format.buffer, format.byteOffset, format.byteLength);
    const samples = Math.round((ms * view.getUint32(4, true)) / 1000);
    const sample = new Uint8Array(Math.max(1, view.getUint16(12, true)));
    const bitDepth = view.getUint16(14, true);
    sample.fill(bitDepth === 8 ? (SILENT_BYTES.get(view.getUint16(0, true)) ?? 0) : 0);
    this.#count(samples * sample.length);
    this.pushRepeated(sample, samples);
  }

  #addSamples(samples: Uint8Array): void {
    this.#count(samples.length);
    this.push(samples);
  }

  #count(bytes: number): void {
    this.#dataBytes += bytes;
    const length = headLength(this.#format ?? EMPTY) + this.#dataBytes;
    if (this.#isSeekable && length - CHUNK_HEAD_BYTES > LARGEST_WAV_LENGTH) {
      throw new Failure('the audio is longer than a WAV file can be (4 GiB)', {
        code: 'output',
        exit: 'output',
        hint: 'Choose mp3 or ogg, or shorten the text.',
      });
    }
  }

  starts(): readonly number[] {
    return this.#before.map((bytes) => this.#msOf(bytes));
  }

  durationMs(): number {
    return this.#msOf(this.#dataBytes);
  }

  #msOf(bytes: number): number {
    const format = this.#format ?? EMPTY;
    const view = new DataView(format.buffer, format.byteOffset, format.byteLength);
    const bytesPerSecond = Math.max(1, format.length < FORMAT_BYTES ? 1 : view.getUint32(8, true));
    return (bytes / bytesPerSecond) * 1000;
  }

  override corrections(): readonly Correction[] {
    if (!this.#isSeekable || this.#format === undefined) return [];
    const head = wavHead(this.#format, this.#dataBytes);
    return [
      { position: 4, bytes: head.subarray(4, 8) },
      { position: head.length - 4, bytes: head.subarray(-4) },
    ];
  }
}

const EMPTY = new Uint8Array(0);

// The format codes stand for linear, A-law and μ-law samples.
const SILENT_BYTES: ReadonlyMap<number, number> = new Map([
  [1, 0x80],
  [6, 0xd5],
  [7, 0xff],
]);

function headLength(format: Uint8Array): number {
  return RIFF_BYTES + CHUNK_HEAD_BYTES + format.length + (format.length % 2) + CHUNK_HEAD_BYTES;
}

// While the length is unknown, `dataBytes` is the largest length.
function wavHead(format: Uint8Array, dataBytes: number): Buffer {
  const length = headLength(format);
  const head = Buffer.alloc(length);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(Math.min(LARGEST_WAV_LENGTH, length - CHUNK_HEAD_BYTES + dataBytes), 4);
  head.write('WAVEfmt ', CHUNK_HEAD_BYTES, 'latin1');
  head.writeUInt32LE(format.length, 16);
  head.set(format, RIFF_BYTES + CHUNK_HEAD_BYTES);
  head.write('data', length - CHUNK_HEAD_BYTES, 'latin1');
  head.writeUInt32LE(dataBytes, length - 4);
  return head;
}
