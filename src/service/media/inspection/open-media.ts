import type { Input } from 'mediabunny';
import { MediaTaskError } from '../child/messages.ts';

/**
 * Opens a media file whose boxes were checked. Playlists are no media here: they name other files and
 * addresses, and the demuxer would open those.
 */
export async function openMedia(path: string): Promise<Input> {
  const { ALL_FORMATS, FilePathSource, HLS, Input, Logging } = await import('mediabunny');
  Logging.level = SILENT;
  return new Input({
    source: new FilePathSource(path),
    formats: ALL_FORMATS.filter((format) => format !== HLS),
  });
}

/** Nothing is printed. */
const SILENT = 0;

/**
 * Does something with a file of a user; whatever breaks a demuxer is the file's fault.
 * @throws MediaTaskError
 */
export async function readMedia<Result>(
  path: string,
  read: (input: Input) => Promise<Result>,
): Promise<Result> {
  const { UnsupportedInputFormatError } = await import('mediabunny');
  const input = await openMedia(path);
  try {
    return await read(input);
  } catch (error) {
    if (error instanceof MediaTaskError) throw error;
    if (error instanceof UnsupportedInputFormatError) {
      throw new MediaTaskError('unsupported', 'is of no format that is known here', error);
    }
    throw new MediaTaskError('unreadable', 'cannot be read to its end', error);
  } finally {
    input.dispose();
  }
}
