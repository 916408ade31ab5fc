import { constants } from 'node:fs';
import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';

export interface ProgramSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly files: Pick<FileSystem, 'access' | 'stat'>;
}

/**
 * Where a program is, as a shell would find it: a path as it is, a name in the folders of `PATH`.
 * The current folder is not searched. Undefined when there is none.
 */
export async function findProgram(
  command: string,
  { env, files, platform }: ProgramSearch,
): Promise<string | undefined> {
  const style = platform === 'win32' ? path.win32 : path.posix;
  const hasFolder = command.includes('/') || (platform === 'win32' && command.includes('\\'));
  const folders = hasFolder
    ? ['']
    : (env['PATH'] ?? '').split(style.delimiter).filter((folder) => style.isAbsolute(folder));
  const endings = platform === 'win32' ? ['', ...windowsEndings(env['PATHEXT'])] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = style.join(folder, command + ending);
      if (await isProgram(file, files)) return file;
    }
  }
  return undefined;
}

async function isProgram(file: string, files: ProgramSearch['files']): Promise<boolean> {
  try {
    await files.access(file, constants.X_OK);
    return (await files.stat(file)).isFile();
  } catch {
    return false;
  }
}

function windowsEndings(pathext: string | undefined): string[] {
  return (pathext ?? '.COM;.EXE;.BAT;.CMD').split(';').filter((ending) => ending !== '');
}
