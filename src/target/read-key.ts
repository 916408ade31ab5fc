import type { Readable } from 'node:stream';
import { checkApiKey } from '../api/request.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { usageFailure } from '../errors/failure.ts';

/** Far above any key; what is larger is the wrong file. */
const MOST_BYTES = 64 * 1024;

/**
 * The key in the file that `--api-key-file` names (`-` is stdin), one trailing line end dropped.
 * @throws Failure: usage when it cannot be read, auth when it holds no key; or the signal's reason
 */
export async function readKeyFile(
  file: string,
  from: {
    readonly files: Pick<FileSystem, 'open'>;
    readonly stdin: () => Readable;
    readonly signal?: AbortSignal;
  },
): Promise<string> {
  const name = `--api-key-file ${file}`;
  try {
    const stream =
      file === '-' ? from.stdin() : (await from.files.open(file, 'r')).createReadStream();
    return checkApiKey(await collect(stream, name, from.signal), name);
  } catch (error) {
    from.signal?.throwIfAborted();
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) throw error;
    throw usageFailure(`${name} cannot be read (${code})`, 'Check the path and its permissions.');
  }
}

async function collect(
  stream: Readable,
  name: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  signal?.throwIfAborted();
  const stop = (): void => void stream.destroy();
  signal?.addEventListener('abort', stop, { once: true });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const part = Buffer.from(chunk);
    size += part.length;
    if (size > MOST_BYTES) throw usageFailure(`${name} is too large to be an API key`);
    parts.push(part);
  }
  signal?.removeEventListener('abort', stop);
  return Buffer.concat(parts).toString('utf8');
}
