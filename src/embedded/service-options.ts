import { FAMILIES } from '../contract/families.ts';
import { IMAGE_MODEL_IDS, VIDEO_MODEL_IDS } from '../contract/values.ts';
import { usageFailure } from '../errors/failure.ts';

/** The ids of all models of the embedded service. */
export const SERVED_MODELS: readonly string[] = [
  ...FAMILIES.flatMap(({ models }): readonly string[] => models),
  ...IMAGE_MODEL_IDS,
  ...VIDEO_MODEL_IDS,
];

/** Maximum number of credits that an account of the embedded service can start with. */
export const CREDITS_MAX = 1_000_000_000_000;

/**
 * Parses a request rate such as `10/s`.
 * @param source the name of the flag or option in error messages
 * @returns requests per second
 * @throws Failure of kind `usage` if the rate is invalid
 */
export function parseRate(given: string, source: string): number {
  const rate = Number(/^(\d{1,6}(?:\.\d{1,6})?)\/s$/.exec(given)?.[1]);
  if (rate > 0) return rate;
  throw usageFailure(`${source} is "${given}"; it takes a rate such as 10/s or 0.5/s`);
}
