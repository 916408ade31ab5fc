import type { FileSystem } from '../system/file-system.ts';
import { usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';

/** Maximum size of a catalogue, a license or a description: far more than the catalogue of all Piper voices. */
export const SMALL_BYTES = 4 * 1024 * 1024;

/**
 * Reads a small file in the folder of `--from`.
 * @throws Failure of kind `usage` if the file is too large or cannot be read
 */
export async function readSmallSource(file: string, files: FileSystem): Promise<Uint8Array> {
  const { size } = await files.stat(file);
  if (size > SMALL_BYTES) {
    throw usageFailure(
      `${display(file)} has ${size} bytes; at most ${SMALL_BYTES} are allowed`,
      'Check the folder of --from.',
    );
  }
  return files.readFile(file).catch((error: unknown) => {
    throw usageFailure(`cannot read ${display(file)}: ${String(error)}`);
  });
}
