import type { FileFormat } from '../../contract/values.ts';
import { FILE_FORMATS } from '../../contract/values.ts';
import type { EncoderOutput, Output, Published, SoundChanges } from '../../durable/output.ts';
import type { OutputOptions } from '../../durable/publish.ts';
import { openOutput } from '../../durable/publish.ts';
import type { System } from '../../system/system.ts';
import type { Failure } from '../../errors/failure.ts';
import { usageFailure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import type { Format } from '../formats.ts';
import { formatOfPath } from '../formats.ts';
import { Pipe } from './pipe.ts';
import type { Marks } from './tags.ts';
import { encodingFailure } from './target.ts';

/**
 * Returns the format in which foley encodes a file itself: the format of the path, if the audio is wav and the service
 * does not make that format. Otherwise undefined.
 */
export function encodingFor(path: string, given: Format): FileFormat | undefined {
  const wanted = formatOfPath(path);
  return given === 'wav' && wanted !== 'wav' && isFileFormat(wanted) ? wanted : undefined;
}

function isFileFormat(format: Format | undefined): format is FileFormat {
  return FILE_FORMATS.some((one) => one === format);
}

interface SpeechOutputOptions extends OutputOptions {
  /** The changes to make to the sound, which is WAV; default none. */
  readonly changes?: SoundChanges | undefined;
  /** Tags and chapters of the encoded file; a pipe or a device gets none. */
  readonly marks?: Marks | undefined;
  /** Called with a sentence about a file that could not get the requested loudness. */
  readonly warn?: ((sentence: string) => void) | undefined;
}

/**
 * Opens an output for speech. If the extension of its path belongs to another format than `given`, or the sound changes,
 * the output encodes what is written to it.
 * @param given format of the bytes that are written
 * @throws Failure: like `openOutput`, and `usage` if a pipe cannot have the format or the changes
 */
export async function openSpeechOutput(
  system: System,
  options: SpeechOutputOptions,
  given: Format,
): Promise<Output> {
  const output = await openOutput(system, options);
  const wanted = formatOfPath(options.path);
  const format =
    options.changes === undefined
      ? encodingFor(options.path, given)
      : isFileFormat(wanted)
        ? wanted
        : 'wav';
  if (format === undefined) return output;
  return encodedOutput(system, output, format, options);
}

/**
 * Returns an output for a WAV file that encodes the file, in a limited amount of memory: while it is written or, if the
 * sound changes, when it is complete. The WAV file itself has the temporary name, so that paid audio can be saved whatever
 * happens to the encoder.
 * @param output the output of the encoded file
 */
export async function encodedOutput(
  system: System,
  output: Output,
  format: FileFormat,
  options: SpeechOutputOptions,
): Promise<Output> {
  const { changes, marks, warn } = options;
  try {
    if (output.temporary === undefined) {
      const isPipe = `${display(output.path)} is a pipe or a device`;
      if (changes !== undefined) throw unchangeable(changes, isPipe);
      requireStreamable(format, isPipe);
      return new EncodedOutput(output, format, { wav: undefined, marks: undefined });
    }
    const wav = await openOutput(system, { ...options, existing: 'replace' });
    if (changes === undefined) return new EncodedOutput(output, format, { wav, marks });
    const { ChangedOutput } = await import('./changed-output.ts');
    const target = { changes, files: system.files, format, marks, warn: warn ?? (() => {}) };
    return new ChangedOutput(wav, output, target);
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

/**
 * Returns an output for an mp3 or Ogg file that gets tags when it is complete; for other formats, `output` itself.
 * @param output the output of the file with the tags
 */
export async function taggedOutput(
  system: System,
  output: Output,
  marks: Marks,
  options: OutputOptions,
): Promise<Output> {
  const format = formatOfPath(output.path);
  if (output.temporary === undefined || (format !== 'mp3' && format !== 'ogg')) return output;
  try {
    const [made, { TaggedOutput }] = await Promise.all([
      openOutput(system, { ...options, existing: 'replace' }),
      import('./tagged-output.ts'),
    ]);
    return new TaggedOutput(made, output, { files: system.files, format, marks });
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

/** Creates the failure for sound that changes and does not go to a file. @param why the place it goes to, as a clause */
export function unchangeable({ loudness }: SoundChanges, why: string): Failure {
  const flag = loudness === undefined ? '--trim' : '--loudness';
  return usageFailure(`${why}, but ${flag} needs a file`, 'Name a file with -o.');
}

/** @throws Failure of kind `usage` for a format whose header has to be written last */
export function requireStreamable(format: FileFormat, why: string): void {
  if (format !== 'm4a' && format !== 'm4b') return;
  throw usageFailure(
    `${why}, to which ${format} cannot be written`,
    'Write to a file with -o, or choose mp3, wav, ogg, opus or flac.',
  );
}

class EncodedOutput implements Output {
  readonly #output: Output;
  readonly #wav: Output | undefined;
  readonly #encoder: Pipe<Uint8Array, number>;
  readonly #format: FileFormat;

  constructor(
    output: Output,
    format: FileFormat,
    { marks, wav }: { readonly wav: Output | undefined; readonly marks: Marks | undefined },
  ) {
    this.#output = output;
    this.#wav = wav;
    this.#format = format;
    this.#encoder = openWavEncoding(format, output, marks);
  }

  get path(): string {
    return this.#output.path;
  }

  get temporary(): string | undefined {
    return this.#wav?.temporary;
  }

  get bytes(): number {
    return this.#wav?.bytes ?? this.#output.bytes;
  }

  async write(chunk: Uint8Array, onWritten?: () => void): Promise<void> {
    // A copy, because the encoder reads the chunk later.
    const copy = new Uint8Array(chunk);
    if (this.#wav === undefined) onWritten?.();
    else await this.#wav.write(chunk, onWritten);
    await this.#encoder.write(copy);
  }

  async overwrite(position: number, bytes: Uint8Array): Promise<void> {
    await this.#wav?.overwrite(position, bytes);
  }

  async checksum(): Promise<string | undefined> {
    return this.#wav?.checksum();
  }

  async publish(): Promise<Published> {
    const sampleRate = await this.#encoder.end();
    const checksum = await this.#output.checksum();
    const published = await this.#output.publish();
    return { ...published, encoded: { format: this.#format, sampleRate, checksum } };
  }

  async abandon(): Promise<void> {
    this.#encoder.stop();
    await this.#output.abandon();
    await this.#wav?.abandon();
  }

  async release() {
    this.#encoder.stop();
    await this.#output.abandon();
    return this.#wav?.release();
  }
}

/**
 * Returns a queue for the bytes of a WAV file, which encodes them while they arrive. Its result is the sample rate of the
 * complete file. Fails with a Failure of the output, or of kind `bad_answer` for bytes that are not WAV.
 */
export function openWavEncoding(
  format: FileFormat,
  output: EncoderOutput,
  marks?: Marks,
): Pipe<Uint8Array, number> {
  return new Pipe((bytes) => encodeWav(format, bytes, output, marks));
}

async function encodeWav(
  format: FileFormat,
  bytes: AsyncIterable<Uint8Array>,
  output: EncoderOutput,
  marks: Marks | undefined,
): Promise<number> {
  // Loaded only here, because most commands write what the service sends.
  const [{ encodeFile }, { readWavStream }] = await Promise.all([
    import('./encode-file.ts'),
    import('../wav-stream.ts'),
  ]);
  try {
    const { sampleRate, samples } = await readWavStream(bytes);
    return await encodeFile(format, samples, { output, marks, sampleRate });
  } catch (error) {
    throw encodingFailure(error, format);
  }
}
