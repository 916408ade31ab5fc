// Where the tests have their temporary files: in memory if this system has a folder for that.
import { readFileSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
const ENOUGH_BYTES = 4e9;

/**
 * Returns the environment variable that puts temporary files into memory: most tests make a database, and a disk takes
 * longer to store it than the test. Empty if the caller chose a folder, and where programs cannot run from memory.
 */
export function temporaryFiles() {
  if (process.env['TMPDIR'] !== undefined || !isFolderInMemory()) return {};
  return { TMPDIR: FOLDER };
}

function isFolderInMemory() {
  if (process.platform !== 'linux') return false;
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, place]) => place === FOLDER);
  const [, , type, options = ''] = mount ?? [];
  // Tests run scripts from their folders.
  if (type !== 'tmpfs' || /\b(?:ro|noexec)\b/.test(options)) return false;
  const { bavail, bsize } = statfsSync(FOLDER);
  return bavail * bsize >= ENOUGH_BYTES;
}
