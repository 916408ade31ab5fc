import { INFO_BYTES, readMp3InfoTag } from './mp3-info-tag.ts';
import type { Mp3InfoTag } from './mp3-info-tag.ts';
import type { Mp3Frame } from './mp3-frames.ts';
import { mp3FrameLength, parseMp3Frame } from './mp3-frames.ts';
import { mp3TagHeadBytes, mp3TagLength } from './mp3-tags.ts';
import type { Findings, JudgingReader } from './verdict.ts';
import { TO_THE_END } from './verdict.ts';
import type { Walker } from './walker.ts';

/**
 * Walks an mp3 from frame to frame. Between frames only whole ID3v2, ID3v1 and APEv2 tags may stand;
 * any other byte is a fault, for searching on for something like a header is how a decoder plays
 * noise. A cut inside a frame or a tag is seen; a cut exactly between two frames is seen only when
 * an Info (Xing) tag told how many there would be.
 */
export class Mp3Reader implements JudgingReader {
  want = HEADER_BYTES;
  skip = 0;
  problem: string | undefined;
  begun = false;

  #first: Mp3Frame | undefined;
  #tag: Mp3InfoTag | undefined;
  #frames = 0;
  #frameBytes = 0;
  /** Samples since the sample rate last changed, and the time before that. */
  #samples = 0;
  #frameSamples = 0;
  #earlierMs = 0;
  #sampleRate = 0;
  #rateBits = -1;

  step(bytes: Uint8Array, at: number, position: number): void {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    const length = bytes[at] === 0xff ? mp3FrameLength(second, third) : 0;
    if (length === 0) {
      this.#stepTag(bytes, at, position);
    } else if (this.#first === undefined) {
      this.#stepFirst(bytes, at, length);
    } else {
      if (rateBitsOf(second, third) !== this.#rateBits) this.#changeRate(bytes, at);
      this.#pass(length);
      this.#frames += 1;
      this.#samples += this.#frameSamples;
    }
  }

  finish(walker: Walker): Findings {
    const tag = this.#tag;
    const isWhole = tag?.frames === undefined || tag.frames === this.#frames;
    const padding = isWhole ? (tag?.delay ?? 0) + (tag?.padding ?? 0) : 0;
    const samples = Math.max(0, this.#samples - padding);
    const isSound = this.#frames > 0 && this.#sampleRate > 0;
    return {
      durationMs: isSound ? this.#earlierMs + (samples / this.#sampleRate) * 1000 : undefined,
      sampleRate: this.#first?.sampleRate,
      channels: this.#first?.channels,
      endIsProven: tag?.frames !== undefined,
      problem: this.#problemAtEnd(walker),
    };
  }

  #problemAtEnd(walker: Walker): string | undefined {
    if (this.problem !== undefined) return this.problem;
    if (walker.bytes === 0) return 'is empty';
    if (this.skip > 0) return 'is cut: it ends inside a frame or a tag';
    if (walker.held.length > 0) return this.#problemOfRest(walker);
    if (this.#frames === 0) return 'has no audio frame';
    const { frames, bytes } = this.#tag ?? {};
    // Some writers count the tag's own frame; the byte count, where there is one, tells them apart.
    const lacksFrames =
      frames !== undefined && this.#frames < frames - (bytes === undefined ? 1 : 0);
    const lacksBytes = bytes === undefined || this.#frameBytes < bytes;
    return lacksFrames && lacksBytes
      ? `is cut: it has ${this.#frames} of ${frames} frames`
      : undefined;
  }

  #problemOfRest(walker: Walker): string {
    const [first = 0] = walker.held;
    const couldGoOn = first === 0xff || first === 0x49 || first === 0x54 || first === 0x41;
    if (couldGoOn && this.begun) return 'is cut: it ends inside a header';
    return strayBytes(walker.position);
  }

  /** The first frame may be no sound but a tag that tells the length of the whole. */
  #stepFirst(bytes: Uint8Array, at: number, length: number): void {
    const look = Math.min(length, INFO_BYTES);
    this.begun = true;
    if (this.want < look) {
      this.want = look;
      return;
    }
    const frame = this.#changeRate(bytes, at);
    if (frame === undefined) return;
    this.#first = frame;
    this.#tag = readMp3InfoTag(bytes.subarray(at, at + look), frame);
    this.#pass(length);
    if (this.#tag === undefined) {
      this.#frames += 1;
      this.#samples += frame.samples;
    }
  }

  #changeRate(bytes: Uint8Array, at: number): Mp3Frame | undefined {
    const frame = parseMp3Frame(bytes, at);
    if (frame === undefined) return undefined;
    if (this.#sampleRate > 0) this.#earlierMs += (this.#samples / this.#sampleRate) * 1000;
    this.#samples = 0;
    this.#sampleRate = frame.sampleRate;
    this.#frameSamples = frame.samples;
    this.#rateBits = rateBitsOf(bytes[at + 1] ?? 0, bytes[at + 2] ?? 0);
    return frame;
  }

  #pass(length: number): void {
    this.skip = length;
    this.want = HEADER_BYTES;
    this.#frameBytes += length;
  }

  #stepTag(bytes: Uint8Array, at: number, position: number): void {
    const needed = mp3TagHeadBytes(bytes, at);
    if (this.want < needed) {
      this.want = needed;
      return;
    }
    const length = mp3TagLength(bytes, at);
    if (length === 0) {
      this.problem = this.begun ? strayBytes(position) : 'is not mp3';
      this.skip = TO_THE_END;
      return;
    }
    this.begun = true;
    this.skip = length;
    this.want = HEADER_BYTES;
  }
}

const HEADER_BYTES = 4;

/** What a header says of version and sample rate, which are the same all through most files. */
function rateBitsOf(second: number, third: number): number {
  return ((second & 0x18) << 8) | (third & 0x0c);
}

function strayBytes(position: number): string {
  return `has bytes that are no mp3 at offset ${position}`;
}
