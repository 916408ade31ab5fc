import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { removeQuietly } from './debris.ts';
import { syncFile, syncFolder } from './durability.ts';
import type { FileDeps } from './file-deps.ts';
import { FileWriter } from './file-writer.ts';
import { replaceFile } from './replace-file.ts';
import type { SpoolAbout, SpoolRecord } from './spool-record.ts';
import { stateFailure } from './state-failures.ts';

/** Paid audio on its way into the spool. Everything but `discard` throws exit 32 when it cannot be kept. */
export interface SpoolWriter {
  readonly id: string;
  /** The audio file, which is there from the beginning. */
  readonly path: string;
  /** Bytes taken so far. */
  readonly bytes: number;
  /** Takes a chunk, which must not be changed afterwards; resolves when there is room for more. */
  write(chunk: Uint8Array): Promise<void>;
  /** Closes the entry and keeps it, with what became known since it was opened. */
  keep(outcome: SpoolOutcome): Promise<void>;
  /** Removes the entry: the audio got where it was meant to go. Never throws. */
  discard(): Promise<void>;
}

/** What is known at the end. */
export interface SpoolOutcome extends Partial<
  Pick<SpoolAbout, 'creditsUsed' | 'requestId' | 'problem'>
> {
  readonly complete: boolean;
}

export interface SpoolWriterOptions extends FileDeps {
  readonly id: string;
  readonly audio: string;
  readonly sidecar: string;
  readonly file: FileHandle;
  readonly record: SpoolRecord;
}

/** A writer at the end of `audio`, whose sidecar is there already. */
export function createSpoolWriter(options: SpoolWriterOptions): SpoolWriter {
  return new OpenEntry(options);
}

class OpenEntry implements SpoolWriter {
  readonly id: string;
  readonly path: string;
  readonly #options: SpoolWriterOptions;
  readonly #writer: FileWriter;
  #isOpen = true;

  constructor(options: SpoolWriterOptions) {
    this.id = options.id;
    this.path = options.audio;
    this.#options = options;
    this.#writer = new FileWriter(options.file);
  }

  get bytes(): number {
    return this.#writer.bytes;
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      await this.#writer.write(chunk);
    } catch (error) {
      throw stateFailure('the spool', this.path, error);
    }
  }

  async keep(outcome: SpoolOutcome): Promise<void> {
    try {
      // What did get to the disk is kept even when the rest of it did not.
      const fault = await this.#settle();
      const complete = outcome.complete && fault === undefined;
      const record = { ...this.#options.record, ...outcome, complete };
      await writeSidecar({ ...this.#options, record });
      await syncFolder(this.#options.files, path.dirname(this.path));
      if (fault !== undefined) throw fault.error;
    } catch (error) {
      throw stateFailure('the spool', this.path, error);
    }
  }

  async discard(): Promise<void> {
    this.#writer.stop();
    await this.#settle();
    await removeQuietly(this.path, this.#options);
    await removeQuietly(this.#options.sidecar, this.#options);
  }

  /** Brings to the disk what was taken and closes the file; returns what went wrong first. */
  async #settle(): Promise<{ readonly error: unknown } | undefined> {
    let fault: { readonly error: unknown } | undefined;
    const note = (error: unknown): void => {
      fault ??= { error };
    };
    await this.#writer.flush().catch(note);
    if (!this.#isOpen) return fault;
    this.#isOpen = false;
    await syncFile(this.#options.file).catch(note);
    await this.#options.file.close().catch(note);
    return fault;
  }
}

/** Writes what is known of an entry beside it. Throws a failure of the output kind. */
export async function writeSidecar(
  options: FileDeps & Pick<SpoolWriterOptions, 'record' | 'sidecar'>,
): Promise<void> {
  const { sidecar, record } = options;
  const data = Buffer.from(`${JSON.stringify(record, undefined, 2)}\n`);
  await replaceFile({ ...options, path: sidecar, data, mode: 0o600 });
}
