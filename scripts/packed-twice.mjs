// Packs the package here and in a clone that was made under another umask. Fails unless both tarballs have the same bytes.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pack } from './installation.mjs';
import { root, setUp } from './set-up.mjs';

setUp();
const folder = mkdtempSync(path.join(tmpdir(), 'foley-packed-'));
/** It has hard links to the packages, so it is on the same disk. Git ignores it. */
const clone = path.join(root, `dist-${path.basename(folder)}`);
try {
  const { integrity } = pack(root, '--pack-destination', folder);
  if (packClone().integrity !== integrity) {
    throw new Error('A clone with another umask packs other bytes.');
  }
  process.stdout.write('A clone with another umask packs the same bytes.\n');
} finally {
  for (const made of [folder, clone]) rmSync(made, { recursive: true, force: true });
}

/** Packs a copy of the repository, made under another umask. */
function packClone() {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = spawnSync('git', list, { cwd: root, encoding: 'utf8' });
  const umask = process.umask(0o077);
  for (const name of stdout.split('\0')) {
    if (name !== '' && existsSync(path.join(root, name))) place(copyFileSync, name);
  }
  // Other hidden entries belong to tools that may run now.
  for (const name of readdirSync(path.join(root, 'node_modules'))) {
    if (name === '.package-lock.json' || !name.startsWith('.')) {
      linkTree(path.join('node_modules', name));
    }
  }
  const packed = pack(clone, '--pack-destination', folder);
  process.umask(umask);
  return packed;
}

function linkTree(name) {
  const stats = lstatSync(path.join(root, name));
  if (stats.isFile()) place(linkSync, name);
  if (!stats.isDirectory()) return;
  for (const entry of readdirSync(path.join(root, name))) linkTree(path.join(name, entry));
}

function place(put, name) {
  const target = path.join(clone, name);
  mkdirSync(path.dirname(target), { recursive: true });
  put(path.join(root, name), target);
}
