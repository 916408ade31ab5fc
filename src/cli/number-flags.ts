import { usageFailure } from '../errors/failure.ts';

/** A parser for a flag that takes a whole number within limits. */
export function integerWithin(
  flag: string,
  {
    minimum,
    maximum = Number.MAX_SAFE_INTEGER,
  }: { readonly minimum: number; readonly maximum?: number },
): (given: string) => number {
  const allowed =
    maximum === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${minimum}`
      : `a whole number from ${minimum} to ${maximum}`;
  return (given) => {
    const value = Number(given);
    if (!/^-?\d+$/.test(given) || value < minimum || value > maximum) {
      throw usageFailure(`${flag} is "${given}"; it takes ${allowed}`);
    }
    return value;
  };
}
