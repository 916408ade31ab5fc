import type { LongTextRecord } from './record.ts';
import type { LeftText } from './record-list.ts';

/** What the parts of a long text say together. */
export interface LongTextTotals {
  /** Undefined when one of them does not tell. */
  readonly creditsUsed: number | undefined;
  /** What the part says that left least. */
  readonly quotaRemaining: number | undefined;
  /** Of the first part. */
  readonly requestId: string;
  readonly ignoredParameters: readonly string[];
  /** Whether all parts tell which controls were not applied. */
  readonly tellsIgnored: boolean;
  /** Parts, from 1, of which some could not be spoken. */
  readonly partial: readonly number[];
}

/** Adds up what is known of all parts. */
export function totalsOf(record: Pick<LongTextRecord, 'part' | 'plan'>): LongTextTotals {
  const states = record.plan.parts.map((_, index) => record.part(index));
  const credits = states.map(({ creditsUsed }) => creditsUsed);
  const quotas = states
    .map(({ quotaRemaining }) => quotaRemaining)
    .filter((quota) => quota !== undefined);
  const known = credits.filter((one) => one !== undefined);
  return {
    creditsUsed: known.length < credits.length ? undefined : sum(known),
    quotaRemaining: quotas.length === 0 ? undefined : Math.min(...quotas),
    requestId: states[0]?.requestId ?? '',
    ignoredParameters: Array.from(
      new Set(states.flatMap(({ ignoredParameters }) => ignoredParameters ?? [])),
    ),
    tellsIgnored: states.every(({ ignoredParameters }) => ignoredParameters !== undefined),
    partial: states.flatMap(({ isPartial }, index) => (isPartial === true ? [index + 1] : [])),
  };
}

/** Credits of the parts that were charged for and got nowhere, as far as they are known. */
export function costOf({ plan, states }: Pick<LeftText, 'plan' | 'states'>): {
  readonly creditsUsed: number;
} {
  const atStake = plan.parts
    .map((_, index) => states.get(index))
    .filter((part) => part?.state === 'accepted' || part?.state === 'done');
  return { creditsUsed: sum(atStake.map((part) => part?.creditsUsed ?? 0)) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
