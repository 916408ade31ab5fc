import type { Output, Published, Released, SoundChanges } from '../../durable/output.ts';

/**
 * An output whose file is made when everything is written to it. The audio that the service made has the temporary name,
 * so that paid audio can be saved whatever happens afterwards.
 */
export abstract class FinishedOutput implements Output {
  /** The output for the audio that the service made. */
  protected readonly made: Output;
  /** The output of the finished file. */
  protected readonly finished: Output;

  constructor(made: Output, finished: Output) {
    this.made = made;
    this.finished = finished;
  }

  get path(): string {
    return this.finished.path;
  }

  get temporary(): string | undefined {
    return this.made.temporary;
  }

  get bytes(): number {
    return this.made.bytes;
  }

  /** The changes that `publish` makes to the sound; undefined for none. */
  get changes(): SoundChanges | undefined {
    return undefined;
  }

  write(chunk: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.made.write(chunk, onWritten);
  }

  overwrite(position: number, bytes: Uint8Array): Promise<void> {
    return this.made.overwrite(position, bytes);
  }

  checksum(): Promise<string | undefined> {
    return this.made.checksum();
  }

  abstract publish(): Promise<Published>;

  async abandon(): Promise<void> {
    await this.finished.abandon();
    await this.made.abandon();
  }

  async release(): Promise<Released | undefined> {
    await this.finished.abandon();
    return this.made.release();
  }
}
