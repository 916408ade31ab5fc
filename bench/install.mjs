// What a user gets from the packed tarball: its size against the limits, and its start against an empty Node.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { install, LARGEST_INSTALLATION, MOST_PACKAGES, pack } from '../scripts/installation.mjs';
import { root } from '../scripts/set-up.mjs';
import { measure as measureStartUp } from './start-up.mjs';

export const title = 'installation';

export function measure() {
  const folder = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  try {
    const { bin, packages, bytes } = install(
      path.join(folder, pack(root, '--pack-destination', folder).filename),
      folder,
    );
    const megabytes = bytes / 1e6;
    return [
      {
        name: `${megabytes.toFixed(1)} MB × ${LARGEST_INSTALLATION / 1e6} MB`,
        ratio: bytes / LARGEST_INSTALLATION,
        limit: 1,
      },
      {
        name: `${packages} packages × ${MOST_PACKAGES}`,
        ratio: packages / MOST_PACKAGES,
        limit: 1,
      },
      ...measureStartUp(realpathSync(bin)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
