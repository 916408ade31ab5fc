import {
  crc16,
  mp3BitRate,
  mp3FrameLength,
  parseMp3Frame,
  readMp3InfoTag,
  MARK_BYTES,
  mp3TagHeadBytes,
  mp3TagLength,
  emptyMp3Frame,
  writeMp3InfoTag,
} from '../mp3.ts';
import type { Mp3Frame } from '../mp3.ts';
import type { Correction, FormatReader } from '../reader.ts';
import { Walker } from '../reader.ts';
import type { AudioJoiner, JoinerOptions } from './audio-joiner.ts';
import { ByteSink, misfit } from './audio-joiner.ts';

/**
 * The frames of all parts, without the tags around them. Each part begins with no debt to a frame before
 * it, so that its frames mean the same behind those of another. A file has a frame with the Info tag
 * before them, which is filled in at the end; a stream has none.
 */
export function createMp3Joiner({ isSeekable }: JoinerOptions): AudioJoiner {
  const frames = new JoinedFrames(isSeekable);
  const onFrame: OnFrame = (bytes, frame, isFirst) => frames.add(bytes, frame, isFirst);
  let walker = new Walker(new FrameReader(onFrame));
  return {
    write(chunk) {
      walker.write(chunk);
      return frames.take();
    },
    endPart() {
      if (walker.held.length > 0 || walker.bytes === 0) throw misfit('one is cut');
      walker = new Walker(new FrameReader(onFrame));
      return frames.take();
    },
    starts: () => frames.starts(),
    corrections: () => frames.corrections(),
  };
}

type OnFrame = (bytes: Uint8Array, frame: Mp3Frame, isFirst: boolean) => void;

/** Gives whole frames, and passes over the tags between them. */
class FrameReader implements FormatReader {
  want = MARK_BYTES;
  skip = 0;
  readonly #onFrame: OnFrame;
  #isFirst = true;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
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
    if (this.skip === 0) throw misfit('one is no mp3');
    const frame = length === 0 ? undefined : parseMp3Frame(bytes, at);
    if (frame === undefined) return;
    this.#onFrame(bytes.subarray(at, at + length), frame, this.#isFirst);
    this.#isFirst = false;
  }
}

class JoinedFrames {
  readonly #sink = new ByteSink();
  readonly #isSeekable: boolean;
  readonly #seek = new SeekTable();
  /** The frame that the Info tag will be in. */
  #room: Uint8Array | undefined;
  #sound: Mp3Frame | undefined;
  #bytes = 0;
  #checksum = 0;
  #bitRates = new Set<number>();
  /** What the first part's tag says of its beginning, and the last one's of its end. */
  #delay: number | undefined;
  #padding = 0;
  /** Frames before each part, and what its own tag says of its beginning. */
  readonly #parts: {
    readonly frames: number;
    readonly delay: number;
    readonly isTagged: boolean;
  }[] = [];

  constructor(isSeekable: boolean) {
    this.#isSeekable = isSeekable;
  }

  add(bytes: Uint8Array, frame: Mp3Frame, isFirst: boolean): void {
    const sound = (this.#sound ??= frame);
    if (frame.sampleRate !== sound.sampleRate || frame.channels !== sound.channels) {
      throw misfit('their mp3 frames differ in sample rate or channels');
    }
    const tag = isFirst ? readMp3InfoTag(bytes, frame) : undefined;
    if (isFirst) {
      this.#delay ??= tag?.delay ?? 0;
      this.#parts.push({
        frames: this.#seek.count,
        delay: tag?.delay ?? 0,
        isTagged: tag !== undefined,
      });
      this.#padding = tag?.padding ?? 0;
    }
    if (tag !== undefined) return;
    if (this.#isSeekable && this.#room === undefined) {
      this.#room = emptyMp3Frame(bytes);
      this.#sink.push(this.#room);
    }
    this.#seek.add(this.#bytes);
    this.#bytes += bytes.length;
    this.#bitRates.add(mp3BitRate(bytes, 0));
    if (this.#isSeekable) this.#checksum = crc16(bytes, this.#checksum);
    this.#sink.push(bytes);
  }

  take(): Uint8Array {
    return this.#sink.take();
  }

  /** A part without a tag counts from its first frame, one with a tag from where that says. */
  starts(): readonly number[] {
    const { sampleRate = 1, samples = 0 } = this.#sound ?? {};
    // A decoder that meets a tag leaves out its own delay, and what the tag says was added.
    const skipped = this.#isSeekable ? (this.#delay ?? 0) + DECODER_DELAY : 0;
    return this.#parts.map(({ delay, frames, isTagged }) => {
      const own = isTagged ? delay + DECODER_DELAY : 0;
      return ((frames * samples + own - skipped) / sampleRate) * 1000;
    });
  }

  corrections(): readonly Correction[] {
    if (this.#room === undefined) return [];
    const [bitRate] = this.#bitRates;
    const delay = this.#delay ?? 0;
    const tag = writeMp3InfoTag(this.#room, {
      frames: this.#seek.count,
      audioBytes: this.#bytes,
      checksum: this.#checksum,
      kilobitsPerSecond: this.#bitRates.size === 1 ? bitRate : undefined,
      added: delay === 0 ? undefined : { delay, padding: this.#padding },
      places: this.#seek.places(this.#bytes),
    });
    return [{ position: 0, bytes: tag }];
  }
}

/** Samples that every decoder puts before the sound. */
const DECODER_DELAY = 529;

/** Positions that are remembered at most; those of every second frame, fourth, … of a longer file. */
const MOST = 1_024;

/** Remembers where frames begin, for a table of a hundred places, in memory that does not grow. */
class SeekTable {
  /** Frames so far. */
  count = 0;
  #step = 1;
  #positions: number[] = [];

  /** The next frame begins at this byte. */
  add(position: number): void {
    if (this.count % this.#step === 0) this.#positions.push(position);
    this.count += 1;
    if (this.#positions.length < MOST) return;
    this.#positions = this.#positions.filter((_, index) => index % 2 === 0);
    this.#step *= 2;
  }

  /** Where each hundredth of the time begins, as a share of `bytes`. */
  places(bytes: number): readonly number[] {
    return Array.from({ length: 100 }, (_, part) => {
      const index = Math.floor((part * this.count) / 100 / this.#step);
      return (this.#positions[index] ?? 0) / bytes;
    });
  }
}
