import type { Readable } from 'node:stream';
import { checkApiKey } from '../api/api-key.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure } from '../errors/failure.ts';

/** Far above any key; what is larger is the wrong file. */
const MOST_BYTES = 64 * 1024;

/**
 * The key in the file that `--api-key-file` names (`-` is stdin), one trailing line end dropped.
 * @throws Failure: usage when it cannot be read, auth when it holds no key
 */
export async function readKeyFile(
  file: string,
  from: { readonly files: Pick<FileSystem, 'open'>; readonly stdin: () => Readable },
): Promise<string> {
  const name = `--api-key-file ${file}`;
  try {
    const stream =
      file === '-' ? from.stdin() : (await from.files.open(file, 'r')).createReadStream();
    return checkApiKey(await collect(stream, name), name);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) throw error;
    throw usageFailure(`${name} cannot be read (${code})`, 'Check the path and its permissions.');
  }
}

async function collect(stream: Readable, name: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const part = Buffer.from(chunk);
    size += part.length;
    if (size > MOST_BYTES) throw usageFailure(`${name} is too large to be an API key`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
