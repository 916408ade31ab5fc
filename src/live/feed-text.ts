import type { Clock } from '../effects/clock.ts';
import { usageFailure } from '../errors/failure.ts';
import type { Conversation } from './conversation.ts';
import type { SegmentCutter } from './segment-cutter.ts';

/** Where text goes. */
export type Listener = Pick<Conversation, 'finish' | 'say'>;

export interface FeedOptions {
  /** Cuts what is to be spoken; without one every piece goes on as it is, as simple mode takes it. */
  readonly cutter: SegmentCutter | undefined;
  /** So long after a piece what is left of it is spoken, complete or not; in milliseconds. */
  readonly flushAfterMs: number | undefined;
  readonly clock: Clock;
}

/** The same where what is left most likely is a whole sentence. */
const CLEAR_END_MS = 120;

/**
 * Has text spoken as it comes, no faster than it is taken (contract, section 10).
 * @throws Failure (usage) when there is nothing but white space, and what the pieces throw
 */
export async function feedText(
  pieces: AsyncIterable<string>,
  listener: Listener,
  { clock, cutter = wholePieces(), flushAfterMs }: FeedOptions,
): Promise<void> {
  let isEmpty = true;
  let stopWaiting = ignore;
  let before = Promise.resolve();
  const sayAll = async (segments: readonly string[], turn: Promise<void>): Promise<void> => {
    await turn;
    for (const segment of segments) await listener.say(segment);
  };
  const say = (segments: readonly string[]): Promise<void> => {
    isEmpty &&= segments.length === 0;
    // What was left at a pause may still wait for room when more comes.
    before = sayAll(segments, before);
    return before;
  };
  try {
    for await (const piece of pieces) {
      stopWaiting();
      await say(cutter.write(piece));
      if (flushAfterMs === undefined || !cutter.hasRest) continue;
      const waitMs = cutter.endsClearly ? Math.min(CLEAR_END_MS, flushAfterMs) : flushAfterMs;
      stopWaiting = clock.after(waitMs, () => void say(cutter.flush()));
    }
  } finally {
    stopWaiting();
  }
  await say(cutter.flush());
  if (isEmpty)
    throw usageFailure(
      'the text is empty',
      'Give some text: foley live "Hello", -f FILE, or a pipe.',
    );
  listener.finish();
}

/** White space that is the beginning waits for what follows: alone it is no text. */
function wholePieces(): SegmentCutter {
  let held = '';
  let hasBegun = false;
  return {
    write(piece) {
      held += piece;
      hasBegun ||= held.trim() !== '';
      return hasBegun ? this.flush() : [];
    },
    flush() {
      const pieces = hasBegun && held !== '' ? [held] : [];
      held = hasBegun ? '' : held;
      return pieces;
    },
    hasRest: false,
    endsClearly: false,
  };
}

function ignore(): void {}
