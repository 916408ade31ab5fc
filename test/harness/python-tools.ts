import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { installOnce } from './install-once.ts';
import { findOnPath } from './require-tool.ts';

/**
 * Installs the packages that a requirements file pins, once for each version of that file.
 * @returns the folder of the programs
 */
export async function installPythonTools(requirements: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const programs = process.platform === 'win32' ? 'Scripts' : 'bin';
  const folder = await installOnce(`python-${digest.slice(0, 16)}`, async (empty) => {
    const python = findOnPath('python3') ?? findOnPath('python');
    if (python === undefined) {
      throw new Error(
        'npm run check needs Python 3.10 or newer with venv; python3 is not on PATH.',
      );
    }
    await execa(python, ['-m', 'venv', empty]);
    const pip = ['-m', 'pip', 'install', '--quiet', '-r', requirements];
    await execa(path.join(empty, programs, 'python'), pip);
  });
  return path.join(folder, programs);
}
