import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import type { FileSystem } from './file-system.ts';
import { systemFiles } from './file-system.ts';
import type { Processes } from './processes.ts';
import { systemProcesses } from './processes.ts';
import type { Random } from './random.ts';
import { systemRandom } from './random.ts';

/** What foley uses of the operating system. Functions pass it on whole, so that tests can replace any part of it. */
export interface System {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly random: Random;
  readonly platform: NodeJS.Platform;
  /** Names of temporary files identify this process, so that later commands recognize the files it left behind. */
  readonly processes: Processes;
}

let processes: Processes | undefined;

/** The operating system that this process runs on. */
export const system: System = {
  files: systemFiles,
  clock: systemClock,
  random: systemRandom,
  platform: process.platform,
  // macOS starts a program to identify a process, and many commands need no identity.
  get processes() {
    return (processes ??= systemProcesses());
  },
};
