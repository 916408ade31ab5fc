import type { Findings, JudgingReader } from './verdict.ts';
import { TO_THE_END } from './verdict.ts';
import type { Walker } from './walker.ts';

/** How raw samples are to be read; realtime sessions and documents tell it beside the bytes. */
export interface PcmLayout {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitDepth: number;
}

/**
 * Counts raw samples. They carry no mark and no length: all that can be seen is that a sample is
 * whole, and, where the layout is known, how long they play.
 */
export class PcmReader implements JudgingReader {
  want = 1;
  skip = 0;
  problem: string | undefined;
  begun = true;

  readonly #layout: PcmLayout | undefined;

  constructor(layout?: PcmLayout) {
    this.#layout = layout;
  }

  step(): void {
    this.skip = TO_THE_END;
  }

  finish(walker: Walker): Findings {
    const layout = this.#layout;
    const blockBytes = layout === undefined ? 2 : (layout.channels * layout.bitDepth) / 8;
    const isWhole = walker.bytes % blockBytes === 0;
    return {
      durationMs:
        layout === undefined
          ? undefined
          : (Math.floor(walker.bytes / blockBytes) / layout.sampleRate) * 1000,
      sampleRate: layout?.sampleRate,
      channels: layout?.channels,
      endIsProven: false,
      problem: problemOf(walker.bytes, isWhole),
    };
  }
}

function problemOf(bytes: number, isWhole: boolean): string | undefined {
  if (bytes === 0) return 'is empty';
  return isWhole ? undefined : 'is cut: it ends inside a sample';
}
