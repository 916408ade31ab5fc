import type { ReusedAudio } from '../../api/resources/speech.ts';
import { counted } from '../../text/display.ts';
import type { PurchaseMetadata } from '../purchase.ts';

/** The fields about reuse in the `--json` output of a command. Only with `--reuse`. */
export interface ReuseFields {
  /** Whether the command used audio that was bought before, at least for a part of the text. */
  readonly reused: boolean;
  /** What the reused audio cost when it was bought, in credits; null if unknown. */
  readonly creditsSaved: number | null;
}

/** Returns the fields about reuse for `--json`. @param reused undefined if all audio was bought */
export function reuseFields(reused: ReusedAudio | undefined): ReuseFields {
  if (reused === undefined) return { reused: false, creditsSaved: 0 };
  return { reused: true, creditsSaved: reused.creditsSaved ?? null };
}

/** Adds the fields of several results; undefined if none has fields. */
export function sumOfReuse(
  before: ReuseFields | undefined,
  next: ReuseFields | undefined,
): ReuseFields | undefined {
  if (before === undefined || next === undefined) return before ?? next;
  const isKnown = before.creditsSaved !== null && next.creditsSaved !== null;
  return {
    reused: before.reused || next.reused,
    creditsSaved: isKnown ? before.creditsSaved + next.creditsSaved : null,
  };
}

/**
 * Describes reused audio, such as `reused, 42 credits not spent`. Returns undefined if all audio was bought.
 * @param creditsUsed what the command paid for other audio; undefined if unknown
 */
export function describeReuse(
  { creditsSaved, reused }: ReuseFields,
  creditsUsed: number | undefined,
): string | undefined {
  if (!reused) return undefined;
  if (creditsSaved !== null) return `reused, ${counted(creditsSaved, 'credit')} not spent`;
  return creditsUsed === 0 ? 'reused, nothing spent' : 'partly reused';
}

/** Returns the metadata of a purchase whose audio is reused; empty for bought audio. */
export function reusedMetadata({
  reused,
}: {
  readonly reused?: ReusedAudio | undefined;
}): PurchaseMetadata {
  if (reused === undefined) return {};
  const { creditsSaved } = reused;
  return { isReused: true, ...(creditsSaved === undefined ? {} : { creditsSaved }) };
}

/** Returns what the reused audio of several purchases cost; undefined if all of them were bought. */
export function reusedOf(purchases: readonly PurchaseMetadata[]): ReusedAudio | undefined {
  const reused = purchases.filter(({ isReused }) => isReused === true);
  if (reused.length === 0) return undefined;
  const saved = reused.flatMap(({ creditsSaved }) => creditsSaved ?? []);
  const isKnown = saved.length === reused.length;
  return { creditsSaved: isKnown ? saved.reduce((sum, one) => sum + one, 0) : undefined };
}
