import { encodeFile } from '../encode/encode-file.ts';
import { Pipe } from '../encode/pipe.ts';
import type { Marks } from '../encode/tags.ts';
import type { EncoderOutput } from '../../durable/output.ts';
import { decodeOgg } from '../ogg-links.ts';
import { mixToMono } from '../resample.ts';
import { UnusableAudioError } from '../sound.ts';
import { badPart } from './joiner.ts';

/**
 * Joins Ogg files to one Ogg Vorbis stream: decodes each file while it arrives, and encodes the sound of all. Files that are
 * only concatenated (chained streams, RFC 3533) would be cut after the first one by many players.
 */
export class OggFiles {
  readonly #sound: SoundQueue;
  #part: Pipe<Uint8Array> | undefined;
  #silenceMs = 0;
  readonly #starts: number[] = [];

  /**
   * @param output the output of the joined file
   * @param marks the tags and chapters of the joined file
   */
  constructor(output: EncoderOutput, marks?: Marks) {
    this.#sound = new SoundQueue(output, marks);
  }

  /**
   * Adds the next bytes of the current file. The caller may then reuse `chunk`.
   * @throws Failure of kind `bad_answer` if the file cannot be decoded, or has another sample rate than earlier ones
   * @throws Failure of kind `output`
   */
  async write(chunk: Uint8Array): Promise<void> {
    this.#part ??= new Pipe((bytes) => this.#decode(bytes));
    await this.#part.write(new Uint8Array(chunk));
  }

  /** Ends the current file. @throws Failure like `write` */
  async endPart(): Promise<void> {
    if (this.#part === undefined) throw badPart('one is empty');
    await this.#part.end();
    this.#part = undefined;
  }

  /** Adds silence after the sound that was added so far. */
  addSilence(ms: number): void {
    this.#silenceMs += ms;
  }

  /** Returns the start of each file in the joined sound, in milliseconds. */
  starts(): readonly number[] {
    return this.#starts;
  }

  /** Returns the duration of the sound that was added so far, in milliseconds. */
  durationMs(): number {
    return this.#sound.ms;
  }

  /** Writes the rest of the joined file. @throws Failure like `write` */
  async end(): Promise<void> {
    await this.#addSilence();
    await this.#sound.end();
  }

  async #decode(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    let isFirst = true;
    try {
      for await (const { channels, sampleRate } of decodeOgg(bytes)) {
        const samples = mixToMono(channels);
        if (samples.length === 0) continue;
        this.#sound.open(sampleRate);
        if (isFirst) await this.#addSilence();
        if (isFirst) this.#starts.push(this.#sound.ms);
        isFirst = false;
        await this.#sound.write(samples);
      }
    } catch (error) {
      throw error instanceof UnusableAudioError ? badPart(`one ${error.message}`) : error;
    }
    if (isFirst) throw badPart('one has no sound');
  }

  async #addSilence(): Promise<void> {
    const ms = this.#silenceMs;
    this.#silenceMs = 0;
    await this.#sound.addSilence(ms);
  }
}

const SILENT = new Float32Array(1 << 16);

/** Encodes the samples that are written to it. */
class SoundQueue {
  readonly #output: EncoderOutput;
  readonly #marks: Marks | undefined;
  #pipe: Pipe<Float32Array> | undefined;
  #sampleRate = 0;
  #samples = 0;

  constructor(output: EncoderOutput, marks: Marks | undefined) {
    this.#output = output;
    this.#marks = marks;
  }

  get ms(): number {
    return (this.#samples / this.#sampleRate) * 1000;
  }

  open(sampleRate: number): void {
    if (this.#pipe !== undefined && sampleRate !== this.#sampleRate) {
      throw badPart('their Ogg streams differ in sample rate');
    }
    this.#sampleRate = sampleRate;
    this.#pipe ??= new Pipe(async (sound) => {
      await encodeFile('ogg', sound, { output: this.#output, sampleRate, marks: this.#marks });
    });
  }

  async write(samples: Float32Array): Promise<void> {
    this.#samples += samples.length;
    await this.#pipe?.write(samples);
  }

  async addSilence(ms: number): Promise<void> {
    for (let left = Math.round((ms * this.#sampleRate) / 1000); left > 0; left -= SILENT.length) {
      await this.write(SILENT.subarray(0, left));
    }
  }

  async end(): Promise<void> {
    await this.#pipe?.end();
  }
}
