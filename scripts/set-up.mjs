// Makes a fresh clone ready, and does nothing when it already is: packages from the lockfile, then
// the build. Everything it says goes to stderr, since stdout may be carrying audio.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const buildStamp = path.join(root, 'dist/.stamp');
const lock = path.join(root, '.set-up.lock');

export function setUp() {
  if (packagesAreReady(root) && buildIsReady()) return;
  withLock(() => {
    if (!packagesAreReady(root)) installPackages(root);
    if (!buildIsReady()) build();
  });
}

/**
 * Installs what the lockfile in a folder says, unless that is there already. The packages may be for another version of Node
 * than this one.
 */
export function setUpPackages(folder) {
  if (packagesAreReady(folder)) return;
  withLock(() => {
    // `npm run` hands the strictness of .npmrc down to every npm below it.
    if (!packagesAreReady(folder)) installPackages(folder, '--no-engine-strict');
  });
}

/** Does the set-up, or says why it could not and sets the exit code. */
export function isSetUp() {
  try {
    setUp();
    return true;
  } catch (error) {
    process.stderr.write(`foley: ${error.message}\n`);
    process.exitCode = 1;
    return false;
  }
}

/** Runs a program of this package's own with its output on stderr; throws when it fails. */
export function run(label, command, args, options = {}) {
  const { status, error, signal } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    ...options,
  });
  if (error === undefined && status === 0) return;
  throw new Error(`${label} failed (${error?.message ?? signal ?? `exit ${status}`})`);
}

/** npm keeps a record of what it installed; it has to agree with the lockfile. */
function packagesAreReady(folder) {
  const installedRecord = path.join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(installedRecord)) return false;
  const wanted = readPackages(path.join(folder, 'package-lock.json'));
  const installed = readPackages(installedRecord);
  return Object.entries(wanted).every(
    ([name, { optional, version }]) =>
      name === '' || (name in installed ? installed[name].version === version : optional === true),
  );
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

function installPackages(folder, ...options) {
  const where = folder === root ? '' : ` of ${path.relative(root, folder)}`;
  process.stderr.write(`foley: installing packages${where}\n`);
  const [file, ...first] = npmCommand();
  const args = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...options,
  ];
  run('npm ci', file, [...first, ...args], { cwd: folder });
}

/** The command line of the npm that started this process, or else of the installed one. */
export function npmCommand() {
  const npm = process.env.npm_execpath;
  if (npm?.endsWith('.js')) return [process.execPath, npm];
  if (process.platform !== 'win32') return ['npm'];
  // Windows cannot start npm.cmd without a shell.
  const folder = path.dirname(process.execPath);
  return [process.execPath, path.join(folder, 'node_modules/npm/bin/npm-cli.js')];
}

function buildIsReady() {
  return existsSync(buildStamp) && statSync(buildStamp).mtimeMs >= newestSource();
}

function newestSource() {
  const folders = ['src', 'commands', 'assembly', 'scripts'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).map((name) =>
      path.join(folder, name),
    ),
  );
  const files = [...folders, 'package.json', 'rolldown.config.mjs', 'src', 'commands', 'assembly'];
  return Math.max(...files.map((file) => statSync(path.join(root, file)).mtimeMs));
}

export function build() {
  process.stderr.write('foley: building\n');
  run('the build', process.execPath, [path.join(root, 'scripts/build.mjs')]);
}

/** Two terminals may start foley at once; the second waits for the first. */
function withLock(work) {
  while (!takeLock()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  try {
    work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function takeLock() {
  try {
    mkdirSync(lock);
    writeFileSync(path.join(lock, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (ownerIsGone()) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

function ownerIsGone() {
  try {
    const pid = Number(readFileSync(path.join(lock, 'pid'), 'utf8'));
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // Between the folder and its pid file the owner is alive: give it ten seconds.
    if (error.code === 'ENOENT')
      return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > 10_000;
    return error.code === 'ESRCH';
  }
}
