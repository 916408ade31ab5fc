import { constants } from 'node:fs';
import type { AudioAnswer } from '../../api/speech.ts';
import type { Verdict } from '../../audio/verdict.ts';
import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { syncFile } from '../../files/durability.ts';
import { hasErrno } from '../../files/errno.ts';
import { FileWriter } from '../../files/file-writer.ts';
import { openOwnFile } from '../../files/own-files.ts';
import { stateFailure } from '../../files/state-failures.ts';
import { deliver } from '../deliver.ts';

/**
 * Takes the audio of a part into its file, and checks it on the way. What was there before is replaced.
 * @throws Failure (bad_answer) for what is not whole or not of the format, (state) when it cannot be written
 */
export async function downloadPart(
  audio: AudioAnswer,
  format: AudioFormat,
  {
    file,
    files,
    text,
  }: { readonly file: string; readonly files: FileSystem; readonly text: string },
): Promise<Verdict> {
  const failed = (error: unknown): never => {
    audio.discard();
    throw stateFailure('the audio of a part', file, error);
  };
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
  const handle = await openOwnFile(file, flags, files).catch(failed);
  const writer = new FileWriter(handle);
  try {
    const verdict = await deliver(
      audio,
      format,
      {
        write: (chunk) => writer.write(chunk).catch(failed),
        // It can be fetched again; what came is of no use.
        refuse: () => Promise.resolve(),
      },
      text,
    );
    await writer.flush().catch(failed);
    // That it is there is written down next, and stands after a power cut.
    await syncFile(handle).catch(failed);
    return verdict;
  } finally {
    writer.stop();
    await handle.close().catch(() => undefined);
  }
}

/** Whether the file of a part is there with all the bytes that it had when it was whole. */
export async function isPartThere(
  file: string,
  bytes: number | undefined,
  files: FileSystem,
): Promise<boolean> {
  if (bytes === undefined) return false;
  try {
    return (await files.stat(file)).size === bytes;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw stateFailure('the audio of a part', file, error);
  }
}
