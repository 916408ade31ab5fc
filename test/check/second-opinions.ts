import { chmod, cp, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { installOnce } from '../harness/install-once.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { findOnPath } from '../harness/require-tool.ts';
import { debianPrograms } from './debian-programs.ts';

const PACKAGE = fileURLToPath(new URL('../media-tools', import.meta.url));
const PYTHON = path.join(import.meta.dirname, 'python/tags.txt');
const BINARY = 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())';

/**
 * Global set-up of the sweeps: second opinions that are not installed come from registries. ffmpeg is in a Python package
 * and ffprobe in an npm package, which exist for Linux on x64; the others are Debian's. On other systems, tests that need
 * them are skipped.
 */
export async function setup(): Promise<void> {
  if (process.platform !== 'linux') return;
  const folders = [await debianPrograms(), await mediaTools()].filter((one) => one !== undefined);
  // Worker processes inherit it.
  process.env['PATH'] = [process.env['PATH'], ...folders].join(path.delimiter);
}

async function mediaTools(): Promise<string | undefined> {
  if (process.arch !== 'x64') return undefined;
  if (['ffmpeg', 'ffprobe'].every((name) => findOnPath(name) !== undefined)) return undefined;
  return installOnce('media-tools-1', async (empty) => {
    await cp(PACKAGE, empty, { recursive: true });
    await execa('npm', ['ci', '--ignore-scripts', '--no-engine-strict'], { cwd: empty });
    const ffprobe = path.join(empty, 'node_modules/@ffprobe-installer/linux-x64/ffprobe');
    await chmod(ffprobe, 0o755);
    await symlink(ffprobe, path.join(empty, 'ffprobe'));
    const python = path.join(await installPythonTools(PYTHON), 'python');
    const { stdout: ffmpeg } = await execa(python, ['-c', BINARY]);
    await symlink(ffmpeg, path.join(empty, 'ffmpeg'));
  });
}
