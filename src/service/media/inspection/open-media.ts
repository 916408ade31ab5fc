import { open } from 'node:fs/promises';
import type { Input } from 'mediabunny';
import type { OpenFile } from '../../../audio/sound.ts';
import { MediaTaskError } from '../child/messages.ts';

const SILENT = 0;

/**
 * Opens an imported media file in the demuxer and calls `read`. The caller must call `checkBoxes` first. Playlists are
 * refused, because the demuxer would open the files and URLs in the playlist.
 * @throws MediaTaskError `unsupported` for an unsupported format; `unreadable` for other errors of the demuxer; a
 * MediaTaskError that `read` throws, unchanged
 */
export async function readMedia<Result>(
  path: string,
  read: (input: Input) => Promise<Result>,
): Promise<Result> {
  const { ALL_FORMATS, FilePathSource, HLS, Input, Logging, UnsupportedInputFormatError } =
    await import('mediabunny');
  Logging.level = SILENT;
  const formats = ALL_FORMATS.filter((format) => format !== HLS);
  const input = new Input({ source: new FilePathSource(path), formats });
  try {
    return await read(input);
  } catch (error) {
    if (error instanceof MediaTaskError) throw error;
    if (error instanceof UnsupportedInputFormatError) {
      throw new MediaTaskError('unsupported', 'has an unsupported format', error);
    }
    throw new MediaTaskError('unreadable', 'is damaged or truncated', error);
  } finally {
    input.dispose();
  }
}

/** Opens a file, calls `read`, and closes the file. */
export async function readFileWith<Result>(
  path: string,
  read: (file: OpenFile) => Result,
): Promise<Awaited<Result>> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    return await read({ fd: file.fd, size });
  } finally {
    await file.close();
  }
}
