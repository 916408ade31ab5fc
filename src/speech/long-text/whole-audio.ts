import type { AudioJoiner } from '../../audio/join/audio-joiner.ts';
import { createJoiner } from '../../audio/join/joiner.ts';
import type { Verdict } from '../../audio/verdict.ts';
import type { Verifier } from '../../audio/verify.ts';
import { createVerifier } from '../../audio/verify.ts';
import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { Failure } from '../../errors/failure.ts';
import type { Output } from '../../files/output.ts';
import { stateFailure } from '../../files/state-failures.ts';
import type { AudioSink } from '../deliver.ts';

export interface WholeOptions {
  readonly format: AudioFormat;
  readonly files: FileSystem;
  /** The file that it grows in, or a pipe or device; without it everything goes to `stream`. */
  readonly output: Output | undefined;
  readonly stream: AudioSink;
}

/** What came of it: the sum of a file that is to get its name, and what is in it. */
export interface CheckedWhole {
  readonly verdict: Verdict;
  /** Undefined where nothing gets a name. */
  readonly checksum: string | undefined;
}

/** The audio of a long text as it grows, part after part. */
export class WholeAudio {
  readonly #options: WholeOptions;
  readonly #joiner: AudioJoiner;
  readonly #verifier: Verifier;
  readonly #sink: AudioSink;

  constructor(options: WholeOptions) {
    const { format, output, stream } = options;
    this.#options = options;
    this.#joiner = createJoiner(format, { isSeekable: output?.temporary !== undefined });
    this.#verifier = createVerifier(format);
    this.#sink = output ?? stream;
  }

  /** The next bytes of a part that is heard while it comes. */
  async write(chunk: Uint8Array): Promise<void> {
    await this.#push(this.#joiner.write(chunk));
  }

  async endPart(): Promise<void> {
    await this.#push(this.#joiner.endPart());
  }

  /** Takes a part that is there. */
  async add(file: string): Promise<void> {
    const failed = (error: unknown): never => {
      throw stateFailure('the audio of a part', file, error);
    };
    const handle = await this.#options.files.open(file, 'r').catch(failed);
    const stream = handle.createReadStream({ highWaterMark: CHUNK_BYTES });
    try {
      for await (const chunk of stream) await this.write(chunk);
    } catch (error) {
      if (error instanceof Failure || !isSystemError(error)) throw error;
      failed(error);
    } finally {
      stream.destroy();
    }
    await this.endPart();
  }

  /** Where each part begins in the whole as it decodes, in milliseconds. */
  starts(): readonly number[] {
    return this.#joiner.starts();
  }

  /**
   * Puts right what was not known at the beginning, and checks the whole as it will be read.
   * @throws Failure (bad_answer) when it is not what it should be, (output)
   */
  async finish(): Promise<CheckedWhole> {
    const { output } = this.#options;
    for (const { position, bytes } of this.#joiner.corrections()) {
      await output?.overwrite(position, bytes);
    }
    const checked =
      output?.temporary === undefined
        ? { verdict: this.#verifier.end(), checksum: undefined }
        : await this.#checkFile(output, output.temporary);
    const { problem } = checked.verdict;
    if (problem === undefined) return checked;
    throw new Failure(`the joined audio ${problem}`, {
      code: 'bad_answer',
      exit: 'badAnswer',
      hint: 'If it happens again, try another --format, or speak the text in pieces.',
    });
  }

  /** Reads the file again: nothing that was written over has been seen otherwise. */
  async #checkFile(output: Output, file: string): Promise<CheckedWhole> {
    // Everything that was taken is in the file then.
    const checksum = await output.checksum();
    const verifier = createVerifier(this.#options.format);
    const handle = await this.#options.files.open(file, 'r');
    for await (const chunk of handle.createReadStream({ highWaterMark: CHUNK_BYTES })) {
      verifier.write(chunk);
    }
    return { verdict: verifier.end(), checksum };
  }

  async #push(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    if (this.#options.output?.temporary === undefined) this.#verifier.write(bytes);
    await this.#sink.write(bytes);
  }
}

const CHUNK_BYTES = 1 << 18;

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}
