import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findOnPath } from './require-tool.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/**
 * Installs the packages that a requirements file pins, once for each version of that file. Test files that run at the
 * same time need different requirements files.
 * @returns the folder of the programs
 */
export async function installPythonTools(requirements: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const folder = path.join(CACHE, `python-${digest.slice(0, 16)}`);
  const bin = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const whole = path.join(folder, 'is-complete');
  if (existsSync(whole)) return bin;
  const python = findOnPath('python3') ?? findOnPath('python');
  if (python === undefined) {
    throw new Error('npm run check needs Python 3.10 or newer with venv; python3 is not on PATH.');
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  await execa(python, ['-m', 'venv', folder]);
  await execa(path.join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', '-r', requirements]);
  await writeFile(whole, '');
  return bin;
}
