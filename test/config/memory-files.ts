import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';

/** Files that are only in memory, for what reads settings. */
export function memoryFiles(
  contents: Readonly<Record<string, string | Uint8Array | Error>>,
): FileSystem {
  const contentOf = (file: unknown): Buffer => {
    const content = contents[String(file)];
    if (content === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    if (content instanceof Error) throw content;
    return Buffer.from(content);
  };
  const open = async (file: unknown): Promise<unknown> => {
    const content = contentOf(file);
    let at = 0;
    return {
      stat: async () => ({ isFile: () => true, size: content.length, uid: 0 }),
      read: async (buffer: Buffer) => {
        const bytesRead = content.copy(buffer, 0, at);
        at += bytesRead;
        return { bytesRead };
      },
      close: async () => undefined,
    };
  };
  const lstat = async (file: unknown): Promise<unknown> => contentOf(file);
  // Only what a reader needs of a handle is there.
  return {
    ...systemFiles,
    open: open as FileSystem['open'],
    lstat: lstat as FileSystem['lstat'],
  };
}
