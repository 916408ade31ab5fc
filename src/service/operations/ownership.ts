import type { Owner } from './owner.ts';

/** This process as the owner of what it works on. */
export interface Ownership {
  readonly owner: Owner;
  /** Keeps the lease of this process renewed until the function that it gives is called. */
  hold(): () => void;
}
