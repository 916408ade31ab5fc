import { Failure } from '../errors/failure.ts';
import type { Output, Released } from '../durable/output.ts';
import type { Spool, SpoolAbout, SpoolWriter } from '../durable/spool.ts';
import type { AudioSink, Destination } from './deliver.ts';

/** A sink that can give back what it took, when it can take no more. */
export interface RecoverableSink extends AudioSink {
  /** Puts what was taken so far into the spool; undefined when that is not possible any more. */
  moveTo(spool: Spool, about: SpoolAbout): Promise<SpoolWriter | undefined>;
}

/** Where what was kept is, and whether it is all of it. */
export interface SpooledAudio {
  /** In the spool; without one it lies where it was growing, since the spool could not take it. */
  readonly id: string | undefined;
  readonly path: string;
  readonly complete: boolean;
}

/**
 * A destination whose failure loses nothing that was paid for: what it had taken and what still comes
 * goes into the spool, and the failure is told at the end.
 */
export class FallbackSink implements Destination {
  /** Why the sink could take no more. */
  failure: Failure | undefined;
  readonly #sink: RecoverableSink;
  readonly #spool: () => Promise<Spool>;
  readonly #about: () => SpoolAbout;
  #rescue: SpoolWriter | undefined;
  #hasTaken = false;
  /** Where what was taken still is when the spool cannot be used at all. */
  #left: string | undefined;
  /** The spool could take no more either. */
  #isCut = false;

  /** @param about asked for when something has to be kept */
  constructor(sink: RecoverableSink, spool: () => Promise<Spool>, about: () => SpoolAbout) {
    this.#sink = sink;
    this.#spool = spool;
    this.#about = about;
  }

  async write(chunk: Uint8Array, onWritten?: () => void): Promise<void> {
    this.#hasTaken = true;
    if (this.failure !== undefined) return this.#rescueChunk(chunk);
    try {
      await this.#sink.write(chunk, onWritten);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await this.refuse(error);
    }
  }

  async refuse(failure: Failure): Promise<void> {
    this.failure ??= failure;
    this.#rescue ??= await this.#move();
  }

  /** Keeps what there is. Undefined when there is nothing to keep, or no way to. */
  async keep(outcome: { complete: boolean; problem: string }): Promise<SpooledAudio | undefined> {
    if (!this.#hasTaken) return undefined;
    const writer = this.#rescue ?? (await this.#move());
    if (writer === undefined) return leftAt(this.#left);
    const complete = outcome.complete && !this.#isCut;
    const isNoted = await writer.keep({ ...outcome, complete }).then(
      () => true,
      () => false,
    );
    return { id: writer.id, path: writer.path, complete: complete && isNoted };
  }

  /** That it cannot be kept either adds nothing to what already went wrong. */
  async #move(): Promise<SpoolWriter | undefined> {
    try {
      return await this.#sink.moveTo(await this.#spool(), this.#about());
    } catch (error) {
      const left = error instanceof Failure ? error.details?.['left'] : undefined;
      if (typeof left === 'string') this.#left = left;
      return undefined;
    }
  }

  async #rescueChunk(chunk: Uint8Array): Promise<void> {
    // Without a place to keep it in, it is gone.
    this.#isCut ||= this.#rescue === undefined;
    if (this.#isCut) return;
    try {
      await this.#rescue?.write(chunk);
    } catch {
      this.#isCut = true;
    }
  }
}

function leftAt(path: string | undefined): SpooledAudio | undefined {
  return path === undefined ? undefined : { id: undefined, path, complete: false };
}

/** A file that is growing, as a sink that gives back. */
export function recoverableFile(output: Output): RecoverableSink {
  return {
    write: (chunk, onWritten) => output.write(chunk, onWritten),
    moveTo: async (spool, about) => {
      const released: Released | undefined = await output.release();
      return released === undefined ? undefined : spool.adopt(released, about);
    },
  };
}

/**
 * A stream that nothing comes back from, with a memory of what went into it: what is longer than
 * `memoryBytes` cannot be kept.
 */
export function recoverableStream(write: AudioSink['write'], memoryBytes: number): RecoverableSink {
  let memory: Uint8Array[] | undefined = [];
  let size = 0;
  return {
    async write(chunk) {
      size += chunk.length;
      if (size > memoryBytes) memory = undefined;
      memory?.push(chunk);
      await write(chunk);
    },
    async moveTo(spool, about) {
      if (memory === undefined) return undefined;
      const writer = await spool.create(about);
      for (const chunk of memory) await writer.write(chunk);
      return writer;
    },
  };
}
