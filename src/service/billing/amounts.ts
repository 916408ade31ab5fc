/** The two things that an account spends: credits, and API quota counted in characters. */
export interface Amounts {
  readonly credits: number;
  readonly quota: number;
}

/** Both units, for what is done to each. */
export const UNITS = ['credits', 'quota'] as const;
export type Unit = (typeof UNITS)[number];

/**
 * Where amounts can be. Every transaction moves them from one book to another, so that the sum over
 * the books of an account is always zero: what is available, reserved or spent was once granted.
 */
export type Book = 'granted' | 'available' | 'reserved' | 'spent';
