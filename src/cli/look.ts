import type { ChalkInstance } from 'chalk';

/** How text may look on one stream: its width and whether colours are welcome there. */
export interface Look {
  readonly columns: number;
  readonly paint: ChalkInstance;
}
