import type { FileFormat } from '../../contract/values.ts';
import type { EncoderOutput } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import { UnusableAudioError } from '../sound.ts';
import type { Marks } from './tags.ts';

export interface EncodeOptions {
  /** The output, which is open and empty. If it cannot be overwritten, its headers do not state the length. */
  readonly output: EncoderOutput;
  /** Sample rate of the samples, in Hz. */
  readonly sampleRate: number;
  /** Tags and chapters of the file; wav files have none. */
  readonly marks?: Marks | undefined;
}

interface PlacedBytes {
  readonly data: Uint8Array;
  readonly position: number;
}

/** Returns a stream for Mediabunny's `StreamTarget` that writes to an output. */
export function mediabunnyTarget(output: EncoderOutput): WritableStream<PlacedBytes> {
  const start = output.bytes;
  return new WritableStream<PlacedBytes>({
    async write({ data, position }) {
      const bytes = data.slice();
      const isNew = start + position >= output.bytes;
      if (isNew) await output.write(bytes);
      else await output.overwrite(start + position, bytes);
    },
  });
}

/** Returns the failure for audio that cannot be encoded as `format`. Returns other errors unchanged. */
export function encodingFailure(error: unknown, format: FileFormat): unknown {
  if (!(error instanceof UnusableAudioError)) return error;
  return new Failure(`the audio ${error.message}, so foley cannot encode it as ${format}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'Choose mp3 or wav with --format, and convert the file afterwards.',
    cause: error,
  });
}
