import type { Findings, JudgingReader } from './verdict.ts';
import { TO_THE_END } from './verdict.ts';
import type { Walker } from './walker.ts';

const END = 0xd9;
const START_OF_SCAN = 0xda;

/**
 * Walks the segments of a JPEG, and through the coded picture behind each scan's head to the mark of its
 * end.
 */
export class JpegReader implements JudgingReader {
  want = 2;
  skip = 0;
  problem: string | undefined;
  begun = false;

  /** Where the walk is: before a mark, before the length of a segment, or inside of a coded picture. */
  #at: 'mark' | 'length' | 'picture' = 'mark';
  #mark = 0;
  #hasPixels = false;
  #isEnded = false;

  step(bytes: Uint8Array, at: number, position: number): void {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    if (!this.begun) {
      this.begun = first === 0xff && second === 0xd8;
      return this.begun ? this.#go(2, 'mark') : this.#stop('is not jpeg');
    }
    if (this.#at === 'length') return this.#stepLength(first * 256 + second);
    if (this.#at === 'picture') return this.#stepPicture(first, second);
    if (first !== 0xff) return this.#stop(`has bytes that are no mark at offset ${position}`);
    // Any number of them may fill the place before a mark.
    if (second === 0xff) return this.#go(1, 'mark');
    return this.#stepMark(second);
  }

  finish(walker: Walker): Findings {
    return { endIsProven: this.#isEnded, problem: this.problem ?? this.#problemAtEnd(walker) };
  }

  #stepMark(mark: number): void {
    if (mark === END) {
      this.#isEnded = true;
      // Cameras and phones put more behind it.
      this.skip = TO_THE_END;
      return;
    }
    this.#mark = mark;
    const isAlone = mark === 0x01 || (mark >= 0xd0 && mark <= 0xd7);
    this.#go(2, isAlone ? 'mark' : 'length');
  }

  #stepLength(length: number): void {
    if (length < 2) return this.#stop('is damaged: a segment of it is shorter than its own length');
    const isScan = this.#mark === START_OF_SCAN;
    this.#hasPixels ||= isScan;
    return this.#go(length, isScan ? 'picture' : 'mark');
  }

  /** Within it, 0xff is followed by 0 or by the mark of a restart; anything else ends it. */
  #stepPicture(first: number, second: number): void {
    const isMark = first === 0xff && second !== 0x00 && second !== 0xff;
    const isRestart = second >= 0xd0 && second <= 0xd7;
    if (!isMark) return this.#go(1, 'picture');
    if (isRestart) return this.#go(2, 'picture');
    return this.#stepMark(second);
  }

  #problemAtEnd(walker: Walker): string | undefined {
    if (walker.bytes === 0) return 'is empty';
    if (!this.#isEnded) return 'is cut: its end is missing';
    return this.#hasPixels ? undefined : 'has no picture in it';
  }

  #go(skip: number, at: 'mark' | 'length' | 'picture'): void {
    this.skip = skip;
    this.#at = at;
  }

  #stop(problem: string): void {
    this.problem = problem;
    this.skip = TO_THE_END;
  }
}
