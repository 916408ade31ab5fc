import type { Clock } from '../../effects/clock.ts';
import { LEASE_MS } from './owner.ts';

export interface Lease {
  /** Keeps the lease renewed until the function that it gives is called. */
  hold(): () => void;
  /** Whether anything ever held it. */
  wasHeld(): boolean;
  /** Renews no more. */
  close(): void;
}

/** Renews the lease of this process for as long as anything is in progress. */
export function keepLease({ clock, renew }: { clock: Clock; renew: () => void }): Lease {
  let holders = 0;
  let held = false;
  let stop: (() => void) | undefined;
  const tick = (): void => {
    stop = undefined;
    if (holders === 0) return;
    attempt(renew);
    stop = clock.after(LEASE_MS / 4, tick);
  };
  return {
    hold() {
      holders += 1;
      held = true;
      stop ??= clock.after(LEASE_MS / 4, tick);
      let ended = false;
      return () => {
        if (!ended) holders -= 1;
        ended = true;
      };
    },
    wasHeld: () => held,
    close: () => stop?.(),
  };
}

/** A renewal that fails is not the end: the next comes well before the lease runs out. */
function attempt(renew: () => void): void {
  try {
    renew();
  } catch {
    // Nothing to undo; whoever pays for this operation learns of a broken database at its end.
  }
}
