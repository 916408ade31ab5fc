// Packs foley, installs the tarball as a user does, and measures what npm installed.
import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { npmCommand } from './set-up.mjs';

/** What an installation may have. */
export const MOST_PACKAGES = 12;
export const LARGEST_INSTALLATION = 76e6;

/** Runs npm in `cwd`, with the npm that started this process if there is one. Returns stdout. */
export function npm(args, cwd) {
  const [file, ...first] = npmCommand();
  const { status, stdout, stderr } = spawnSync(file, [...first, ...args], {
    cwd,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ${args[0]} ended with ${status}: ${stderr}`);
  return stdout;
}

/**
 * Runs `npm pack` with `args` in the clone `from`. Returns npm's report about the tarball: its file name, files, size and
 * digest. Up to npm 11 the reports are an array, from npm 12 an object by package name.
 */
export function pack(from, ...args) {
  const [report] = Object.values(JSON.parse(npm(['pack', '--json', ...args], from)));
  return report;
}

/** Installs a tarball without scripts in an empty folder. Returns the path of the command, the packages and the bytes. */
export function install(tarball, folder) {
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], folder);
  const modules = path.join(folder, 'node_modules');
  const lock = JSON.parse(readFileSync(path.join(modules, '.package-lock.json'), 'utf8'));
  const bytes = readdirSync(modules, { recursive: true })
    .map((name) => lstatSync(path.join(modules, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  const bin = path.join(modules, '.bin/foley');
  return { bin, packages: Object.keys(lock.packages).length, bytes };
}
