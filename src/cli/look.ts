import type { ChalkInstance } from 'chalk';

/** How text may look on one stream: its width and whether colours are welcome there. */
export interface Look {
  /** Infinite where nobody looks, so that nothing is cut for the next program. */
  readonly columns: number;
  readonly paint: ChalkInstance;
}
