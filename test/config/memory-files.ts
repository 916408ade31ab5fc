import type { FileSystem } from '../../src/effects/file-system.ts';

/** Files that are only in memory, for what reads settings. */
export function memoryFiles(
  contents: Readonly<Record<string, string | Uint8Array | Error>>,
): Pick<FileSystem, 'readFile'> {
  const readFile = async (file: unknown): Promise<Buffer> => {
    const content = contents[String(file)];
    if (content === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    if (content instanceof Error) throw content;
    return Buffer.from(content);
  };
  // The overloads of the real one cannot be written as one function.
  return { readFile: readFile as FileSystem['readFile'] };
}
