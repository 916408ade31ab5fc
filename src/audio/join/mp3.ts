import {
  MARK_BYTES,
  crc16,
  emptyMp3Frame,
  mp3BitRate,
  mp3FrameLength,
  mp3TagHeadBytes,
  mp3TagLength,
  parseMp3Frame,
  readMp3InfoTag,
  silentMp3Frame,
  writeMp3InfoTag,
} from '../mp3.ts';
import type { Mp3Frame } from '../mp3.ts';
import type { Correction, Walker } from '../reader.ts';
import { Joiner, badPart } from './joiner.ts';

/**
 * Joins the frames of several MP3 files, without their tags. The first frame of each file must not use data of earlier
 * frames (bit reservoir). If the output is seekable, it begins with a frame that contains an Info tag.
 */
export class Mp3Joiner extends Joiner {
  readonly #isSeekable: boolean;
  readonly #seek = new SeekTable();
  #tagFrame: Uint8Array | undefined;
  #first: Mp3Frame | undefined;
  #silent: Uint8Array | undefined;
  #bytes = 0;
  #checksum = 0;
  #bitRates = new Set<number>();
  // The delay and padding that the Info tag of the joined file declares, in samples.
  #delay: number | undefined;
  #padding = 0;
  // The tag of the current part, until its first frame with sound.
  #opening:
    | { readonly delay: number; readonly padding: number; readonly isTagged: boolean }
    | undefined;
  // Number of missing samples of silence or, if negative, of extra ones. Silence consists of whole frames.
  #owed = 0;
  // For each part: the number of frames before it, and the delay that its Info tag declares, in samples.
  readonly #parts: {
    readonly frames: number;
    readonly delay: number;
    readonly isTagged: boolean;
  }[] = [];

  #isFirstFrame = true;

  constructor(isSeekable: boolean) {
    super(MARK_BYTES);
    this.#isSeekable = isSeekable;
  }

  step(bytes: Uint8Array, at: number): void {
    const isSync = bytes[at] === 0xff;
    const length = isSync ? mp3FrameLength(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0) : 0;
    const needed = length === 0 ? mp3TagHeadBytes(bytes, at) : length;
    if (this.want < needed) {
      this.want = needed;
      return;
    }
    this.skip = length === 0 ? mp3TagLength(bytes, at) : length;
    this.want = MARK_BYTES;
    if (this.skip === 0) throw badPart('one is not mp3');
    const frame = length === 0 ? undefined : parseMp3Frame(bytes, at);
    if (frame === undefined) return;
    this.#add(bytes.subarray(at, at + length), frame, this.#isFirstFrame);
    this.#isFirstFrame = false;
  }

  protected override finishPart(walker: Walker): void {
    super.finishPart(walker);
    if (this.#isFirstFrame || this.#opening !== undefined) throw badPart('one has no sound');
    this.#isFirstFrame = true;
  }

  #add(bytes: Uint8Array, frame: Mp3Frame, isFirst: boolean): void {
    const first = (this.#first ??= frame);
    if (frame.sampleRate !== first.sampleRate || frame.channels !== first.channels) {
      throw badPart('their mp3 frames differ in sample rate or channels');
    }
    const tag = isFirst ? readMp3InfoTag(bytes, frame) : undefined;
    if (isFirst) {
      const { delay = 0, padding = 0 } = tag ?? {};
      this.#opening = { delay, padding, isTagged: tag !== undefined };
    }
    if (tag !== undefined) return;
    if (this.#isSeekable && this.#tagFrame === undefined) {
      this.#tagFrame = emptyMp3Frame(bytes);
      this.push(this.#tagFrame);
    }
    if (this.#opening !== undefined) this.#openPart(this.#opening, bytes);
    this.#addFrame(bytes);
  }

  #openPart(
    opening: { readonly delay: number; readonly padding: number; readonly isTagged: boolean },
    bytes: Uint8Array,
  ): void {
    this.#opening = undefined;
    this.#silent ??= silentMp3Frame(bytes);
    const { delay, padding, isTagged } = opening;
    const isLead = this.#delay === undefined;
    this.#delay ??= delay;
    const samples = this.#samplesOf(this.takeSilence());
    if (samples > 0 && isLead && this.#isSeekable && isTagged) {
      this.#delay += this.#addFrames(samples, Math.ceil) - samples;
    } else if (samples > 0) {
      this.#addSeam(samples, this.#padding + delay);
    }
    this.#parts.push({ frames: this.#seek.count, delay, isTagged });
    this.#padding = padding;
  }

  protected override pushSilence(ms: number): void {
    const samples = this.#samplesOf(ms);
    if (this.#isSeekable && this.#padding > 0) {
      this.#padding += this.#addFrames(samples, Math.ceil) - samples;
    } else {
      this.#addSeam(samples, this.#padding);
    }
  }

  #addSeam(samples: number, silent: number): void {
    const missing = samples - silent + this.#owed;
    const added = this.#addFrames(missing, Math.round);
    // At most half a frame of extra silence shortens a later pause. The rest is the delay and padding of the parts.
    this.#owed = Math.max(missing - added, -(this.#first?.samples ?? 0) / 2);
  }

  #addFrames(samples: number, rounded: (frames: number) => number): number {
    const perFrame = this.#first?.samples ?? 1;
    const count = Math.max(0, rounded(samples / perFrame));
    const frame = this.#silent;
    if (frame === undefined || count === 0) return 0;
    for (let index = 0; index < count; index += 1) this.#countFrame(frame);
    this.pushRepeated(frame, count);
    return count * perFrame;
  }

  #samplesOf(ms: number): number {
    return Math.round((ms * (this.#first?.sampleRate ?? 0)) / 1000);
  }

  #addFrame(bytes: Uint8Array): void {
    this.#countFrame(bytes);
    this.push(bytes);
  }

  #countFrame(bytes: Uint8Array): void {
    this.#seek.add(this.#bytes);
    this.#bytes += bytes.length;
    this.#bitRates.add(mp3BitRate(bytes, 0));
    if (this.#isSeekable) this.#checksum = crc16(bytes, this.#checksum);
  }

  /**
   * Returns the start of each input file in the joined audio, in milliseconds. If a file has an Info tag, its
   * start is the end of the samples that encoding and decoding add at the beginning (encoder and decoder delay).
   */
  starts(): readonly number[] {
    const { sampleRate = 1, samples = 0 } = this.#first ?? {};
    // A decoder that reads the Info tag skips its own delay and the delay in the tag.
    const skipped = this.#isSeekable ? (this.#delay ?? 0) + DECODER_DELAY : 0;
    return this.#parts.map(({ delay, frames, isTagged }) => {
      const own = isTagged ? delay + DECODER_DELAY : 0;
      return ((frames * samples + own - skipped) / sampleRate) * 1000;
    });
  }

  durationMs(): number {
    const { sampleRate = 1, samples = 0 } = this.#first ?? {};
    const added = this.#isSeekable ? (this.#delay ?? 0) + this.#padding : 0;
    return ((this.#seek.count * samples - added) / sampleRate) * 1000;
  }

  override corrections(): readonly Correction[] {
    if (this.#tagFrame === undefined) return [];
    const [bitRate] = this.#bitRates;
    const delay = this.#delay ?? 0;
    const tag = writeMp3InfoTag(this.#tagFrame, {
      frames: this.#seek.count,
      audioBytes: this.#bytes,
      checksum: this.#checksum,
      kilobitsPerSecond: this.#bitRates.size === 1 ? bitRate : undefined,
      added: delay === 0 ? undefined : { delay, padding: this.#padding },
      seekTable: this.#seek.table(this.#bytes),
    });
    return [{ position: 0, bytes: tag }];
  }
}

// Every decoder delays the sound by this number of samples.
const DECODER_DELAY = 529;

// For a longer file, only every second frame is recorded, then every fourth, and so on.
const POSITIONS_MAX = 1_024;

class SeekTable {
  count = 0;
  #step = 1;
  #positions: number[] = [];

  add(position: number): void {
    if (this.count % this.#step === 0) this.#positions.push(position);
    this.count += 1;
    if (this.#positions.length < POSITIONS_MAX) return;
    this.#positions = this.#positions.filter((_, index) => index % 2 === 0);
    this.#step *= 2;
  }

  // Returns 100 byte positions, one for each hundredth of the duration, as fractions of `bytes`.
  table(bytes: number): readonly number[] {
    return Array.from({ length: 100 }, (_, part) => {
      const index = Math.floor((part * this.count) / 100 / this.#step);
      return (this.#positions[index] ?? 0) / bytes;
    });
  }
}
