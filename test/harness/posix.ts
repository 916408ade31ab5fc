import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { skipWithout } from './require-tool.ts';

/** What a test may need that Windows does not have; each is in `test/allowed-skips.json`. */
type PosixFeature =
  | '/dev/null, /dev/zero and /dev/fd'
  | 'files that only their owner can read'
  | 'named pipes in folders'
  | 'programs that begin with #!'
  | 'signals between processes';

/** Skips the running test on Windows, which has no `feature`. Call it before anything is started. */
export function requirePosix(feature: PosixFeature): void {
  if (process.platform === 'win32' || process.env['FOLEY_TEST_WITHOUT_POSIX'] === '1') {
    skipWithout(feature);
  }
}

/** Creates a named pipe; skips the test on Windows. */
export function makeFifo(file: string): void {
  requirePosix('named pipes in folders');
  execFileSync('mkfifo', [file]);
}

/** The path of a device that is always full; skips the test where there is none, as on macOS. */
export function requireFullDevice(): string {
  return existsSync('/dev/full') ? '/dev/full' : skipWithout('/dev/full');
}
