// Runs before `npm pack`: builds foley if the build is stale, and sets the modes of the packed files, so that the tarball has
// the same bytes whatever the umask of the clone was.
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isSetUp, root } from './set-up.mjs';

/** npm packs these files and the `files` of package.json. */
const ALWAYS = ['LICENSE', 'README.md', 'package.json'];

if (isSetUp()) {
  const { files } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const names = files.filter((name) => !name.startsWith('!')).map((name) => name.split('/')[0]);
  for (const name of [...ALWAYS, ...names]) setModes(path.join(root, name));
}

/** Sets the modes of a file, or of all files in a folder. */
function setModes(file) {
  const stats = statSync(file);
  if (stats.isFile()) chmodSync(file, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(file)) {
    if (name !== 'node_modules') setModes(path.join(file, name));
  }
}
