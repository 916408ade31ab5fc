import path from 'node:path';
import type { FormPart } from '../../src/api/multipart.ts';
import type { Context } from '../../src/cli/command.ts';
import { readInput } from '../../src/cli/read-input.ts';
import { findRegularFile } from '../../src/durable/regular-file.ts';

const BYTES = 'application/octet-stream';

/**
 * A file as a part of a form. A regular file is read while it is sent; stdin and pipes, which can
 * be read only once, are read now.
 * @throws Failure (usage) when it cannot be read
 */
export async function filePart(
  context: Context,
  name: string,
  file: string,
  shown: string,
): Promise<FormPart> {
  const regular = file === '-' ? undefined : await findRegularFile(file, shown, context.files);
  const filename = file === '-' ? 'stdin' : path.basename(file);
  const common = { name, filename, contentType: BYTES };
  if (regular !== undefined) return { ...common, ...regular };
  const bytes = await readInput(context, file, shown);
  return { ...common, byteLength: bytes.length, open: () => once(bytes) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  await Promise.resolve();
  yield bytes;
}
