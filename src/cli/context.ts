import type { Clock } from '../effects/clock.ts';
import type { FileSystem } from '../effects/file-system.ts';
import type { Random } from '../effects/random.ts';
import type { GlobalOptions } from './global-options.ts';
import type { Io } from './io.ts';
import type { SignalSource, StopSignal } from './signals.ts';
import type { Streams } from './streams.ts';

/** Everything that `main` takes from outside, so that a test can replace it. */
export interface MainDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDirectory: string;
  readonly platform: NodeJS.Platform;
  readonly streams: Streams;
  readonly signals: SignalSource;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  /** Ends the process at once: the second Ctrl-C. */
  readonly leaveAtOnce: (signal: StopSignal) => void;
}
