import type { Clock } from '../effects/clock.ts';
import type { FileSystem } from '../effects/file-system.ts';
import type { Processes } from '../effects/processes.ts';
import type { Random } from '../effects/random.ts';

/** What everything in this room takes from outside. */
export interface FileDeps {
  readonly files: FileSystem;
  readonly random: Random;
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
  /** With them temporary files name their owner, so that those of killed commands can be removed. */
  readonly processes?: Processes | undefined;
}

/** `count` random bytes in hexadecimal, for names that nobody can guess or have taken. */
export function randomHex(deps: Pick<FileDeps, 'random'>, count: number): string {
  return Buffer.from(deps.random.bytes(count)).toString('hex');
}
