import type { Format } from './formats.ts';
import { sniff } from './sniff.ts';
import type { Findings, JudgingReader } from './verdict.ts';
import { TO_THE_END } from './verdict.ts';
import type { Walker } from './walker.ts';

/** For formats that foley passes on without reading them: their mark is checked and no more. */
export class SignatureReader implements JudgingReader {
  want = 4;
  skip = 0;
  problem: string | undefined;
  begun = false;

  readonly #format: Format;

  constructor(format: Format) {
    this.#format = format;
  }

  step(bytes: Uint8Array, at: number): void {
    const sniffed = sniff(bytes.subarray(at, at + this.want));
    if (sniffed.kind === 'more' && sniffed.bytes > this.want) {
      this.want = sniffed.bytes;
      return;
    }
    this.begun = sniffed.kind === 'known' && sniffed.format === this.#format;
    if (!this.begun) this.problem = `is not ${this.#format}`;
    this.skip = TO_THE_END;
  }

  finish(walker: Walker): Findings {
    const empty = walker.bytes === 0 ? 'is empty' : undefined;
    const other = this.begun ? undefined : `is not ${this.#format}`;
    return { endIsProven: false, problem: this.problem ?? empty ?? other };
  }
}
