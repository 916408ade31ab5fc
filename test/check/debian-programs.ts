import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { installOnce } from '../harness/install-once.ts';
import { findOnPath, requireTool } from '../harness/require-tool.ts';

interface Program {
  readonly packages: readonly string[];
  /** Where the packages have the program, if not as `usr/bin/NAME`. */
  readonly file?: string;
  /** Arguments and variables that name what the program would look for in `/usr/share`. `$root` is the folder of all packages. */
  readonly arguments?: string;
  readonly environment?: string;
}

const MODEL = '"$root/usr/share/pocketsphinx/model/en-us';

const PROGRAMS: Readonly<Record<string, Program>> = {
  AtomicParsley: { packages: ['atomicparsley'] },
  aubio: {
    packages: ['aubio-tools'],
    environment: 'PYTHONPATH="$root/usr/lib/python3/dist-packages"',
  },
  fish: { packages: ['fish'] },
  flac: { packages: ['flac'] },
  flite: { packages: ['flite'] },
  mandoc: { packages: ['mandoc'] },
  mpg123: { packages: ['mpg123'], file: 'usr/bin/mpg123.bin' },
  opusdec: { packages: ['opus-tools'] },
  parallel: { packages: ['parallel'] },
  pocketsphinx_batch: {
    packages: ['pocketsphinx', 'pocketsphinx-en-us'],
    arguments: `-hmm ${MODEL}/en-us" -dict ${MODEL}/cmudict-en-us.dict"`,
  },
  promtool: { packages: ['prometheus'] },
  zsh: {
    packages: ['zsh-static', 'zsh-common'],
    file: 'bin/zsh-static',
    environment: 'FPATH="$(find "$root/usr/share/zsh/functions" -type d | paste -sd :)"',
  },
};

/**
 * Puts programs of Debian into a folder of their own and returns it, so that nothing is installed in the system and no
 * rights are needed. Returns undefined where there is no apt, or if all programs are installed.
 */
export async function debianPrograms(): Promise<string | undefined> {
  const missing = Object.entries(PROGRAMS).filter(([name]) => findOnPath(name) === undefined);
  if (missing.length === 0 || findOnPath('apt-get') === undefined) return undefined;
  const packages = missing.flatMap(([, program]) => program.packages);
  const names = missing.map(([name]) => name).join('-');
  const folder = await installOnce(`debian-3-${names}`, async (empty) => {
    const root = await unpack(packages, empty);
    for (const [name, program] of missing) {
      const file = path.join(empty, name);
      await writeFile(file, wrapper(name, root, program));
      await chmod(file, 0o755);
    }
  });
  return folder;
}

/** Unpacks Debian packages into a folder of their own, and returns the root folder of their files. */
export async function debianPackages(...packages: readonly string[]): Promise<string> {
  requireTool('apt-get');
  const folder = await installOnce(`debian-3-${packages.join('-')}`, async (empty) => {
    await unpack(packages, empty);
  });
  return rootIn(folder);
}

const rootIn = (folder: string): string => path.join(folder, 'root');

async function unpack(packages: readonly string[], folder: string): Promise<string> {
  const root = rootIn(folder);
  const [archives, lists] = [path.join(folder, 'archives'), path.join(folder, 'lists')];
  for (const one of [archives, lists]) await mkdir(path.join(one, 'partial'), { recursive: true });
  const places = { 'Dir::Cache::archives': archives, 'Dir::State::lists': lists };
  const settings = { ...places, 'Dir::Cache::pkgcache': '', 'Debug::NoLocking': '1' };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await execa('apt-get', ['update', '-qq', ...options]);
  const download = ['install', '-qq', '-y', '--no-install-recommends', '--download-only'];
  await execa('apt-get', [...download, ...options, ...packages]);
  // fish looks for its files beside its folder, in `etc` and in `share`.
  await mkdir(path.join(root, 'usr'), { recursive: true });
  await symlink('../etc', path.join(root, 'usr/etc'));
  for (const name of await readdir(archives)) {
    if (name.endsWith('.deb')) await execa('dpkg-deb', ['-x', path.join(archives, name), root]);
  }
  return root;
}

function wrapper(name: string, root: string, program: Program): string {
  const { arguments: given = '', environment = '', file = `usr/bin/${name}` } = program;
  return `#!/bin/sh
root='${root}'
libraries=$(find "$root/usr/lib" -name '*.so.*' -exec dirname {} + | sort -u | paste -sd :)
exec env ${environment} LD_LIBRARY_PATH="$libraries" "$root/${file}" ${given} "$@"
`;
}
