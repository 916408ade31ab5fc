// Runs before `npm pack`: builds foley if the build is stale, and sets the modes of the packed files, so that the tarball has
// the same bytes whatever the umask of the clone was.
import { chmodSync, statSync } from 'node:fs';
import path from 'node:path';
import { pack } from './installation.mjs';
import { isSetUp, root } from './set-up.mjs';

if (isSetUp()) {
  for (const { path: name } of pack(root, '--dry-run', '--ignore-scripts').files) {
    const file = path.join(root, name);
    const isProgram = (statSync(file).mode & 0o100) !== 0;
    chmodSync(file, isProgram ? 0o755 : 0o644);
  }
}
