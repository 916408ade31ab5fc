import type { FileHandle } from '../../system/file-system.ts';
import { join } from 'node:path';
import { detectSound } from '../../audio/decode.ts';
import type { Resampler } from '../../audio/resample.ts';
import { concatSamples, createResampler, mixToMono } from '../../audio/resample.ts';
import type { OpenFile } from '../../audio/sound.ts';
import { UnusableAudioError } from '../../audio/sound.ts';
import { changeTempo } from '../../audio/tempo.ts';
import type { System } from '../../system/system.ts';
import { randomHex } from '../../durable/files.ts';
import { openRegularFile } from '../../durable/regular-file.ts';
import { Failure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';

/** Sample rate of recordings in hertz. */
export const SAMPLE_RATE = 44_100;

interface SoundOptions {
  readonly system: System;
  readonly signal: AbortSignal;
  readonly temporaryFolder: string;
}

// Position in the temporary file. Both fields count samples.
interface LineSamples {
  readonly start: number;
  readonly length: number;
}

const SAMPLE_BYTES = 4;
const PIECE_SAMPLES = 262_144;

/**
 * Reads audio files as mono samples at 44.1 kHz. Decodes each file once, and keeps its samples in a temporary file
 * for later reads. If the disk is full, decodes the file again for each read.
 */
export class LineSounds {
  readonly #options: SoundOptions;
  readonly #path: string;
  readonly #stored = new Map<string, LineSamples>();
  #file: FileHandle | undefined;
  #isFull = false;
  #written = 0;

  constructor(options: SoundOptions) {
    this.#options = options;
    this.#path = join(options.temporaryFolder, `sounds-${randomHex(options.system.random, 8)}.pcm`);
  }

  /**
   * Yields the samples of an audio file. The caller must finish reading one file before it reads the next one.
   * @param tempo speed factor; the pitch stays the same
   * @throws Failure of kind `state` for a file that cannot be read or decoded
   * @throws the signal's abort reason on abort
   */
  async *read(audio: string, tempo = 1): AsyncGenerator<Float32Array> {
    const key = `${tempo} ${audio}`;
    const stored = this.#stored.get(key);
    if (stored !== undefined) {
      yield* this.#load(stored);
      return;
    }
    const plain = tempo === 1 ? undefined : this.#stored.get(`1 ${audio}`);
    const sound = plain === undefined ? decoded(audio, this.#options) : this.#load(plain);
    yield* this.#store(key, tempo === 1 ? sound : withTempo(sound, tempo));
  }

  /** Removes the temporary file. Never throws. */
  async close(): Promise<void> {
    this.#stored.clear();
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
    await this.#options.system.files.rm(this.#path, { force: true }).catch(() => undefined);
  }

  async *#load({ length, start }: LineSamples): AsyncGenerator<Float32Array> {
    const file = this.#file;
    if (file === undefined) throw new Error('The sounds are closed.');
    for (let at = 0; at < length;) {
      this.#options.signal.throwIfAborted();
      const bytes = new Uint8Array(Math.min(PIECE_SAMPLES, length - at) * SAMPLE_BYTES);
      const position = (start + at) * SAMPLE_BYTES;
      const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
      const samples = new Float32Array(bytes.buffer, 0, Math.floor(bytesRead / SAMPLE_BYTES));
      if (samples.length === 0) throw new Error('The temporary file of the sounds was cut.');
      at += samples.length;
      yield samples;
    }
  }

  async *#store(key: string, sound: AsyncIterable<Float32Array>): AsyncGenerator<Float32Array> {
    const start = this.#written;
    let waiting: Float32Array[] = [];
    let length = 0;
    for await (const samples of sound) {
      waiting.push(samples);
      length += samples.length;
      yield samples;
      if (length - (this.#written - start) < PIECE_SAMPLES) continue;
      await this.#write(waiting);
      waiting = [];
    }
    await this.#write(waiting);
    if (this.#isFull) await this.close();
    else this.#stored.set(key, { start, length });
  }

  async #write(pieces: readonly Float32Array[]): Promise<void> {
    if (this.#isFull) return;
    const { buffer, byteLength, byteOffset } = concatSamples(pieces);
    try {
      this.#file ??= await this.#options.system.files.open(this.#path, 'wx+', 0o600);
      const bytes = new Uint8Array(buffer, byteOffset, byteLength);
      for (let at = 0; at < byteLength;) {
        const position = this.#written * SAMPLE_BYTES + at;
        at += (await this.#file.write(bytes, at, byteLength - at, position)).bytesWritten;
      }
      this.#written += byteLength / SAMPLE_BYTES;
    } catch {
      this.#isFull = true;
    }
  }
}

async function* decoded(
  path: string,
  { signal, system: { files } }: SoundOptions,
): AsyncGenerator<Float32Array> {
  signal.throwIfAborted();
  try {
    const handle = await openRegularFile(path, files);
    try {
      const { size } = await handle.stat();
      yield* resampled({ fd: handle.fd, size }, signal);
    } finally {
      await handle.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    const problem = error instanceof UnusableAudioError ? error.message : 'cannot be read';
    throw new Failure(`cannot use the saved audio of a line: ${display(path)} ${problem}`, {
      code: 'state',
      exit: 'state',
      hint: 'Delete the file, and run the command again to speak the line again.',
      cause: error,
    });
  }
}

async function* resampled(file: OpenFile, signal: AbortSignal): AsyncGenerator<Float32Array> {
  let resampler: { readonly rate: number; readonly stream: Resampler } | undefined;
  try {
    const sound = await detectSound(file, signal);
    for await (const piece of sound.decode(signal)) {
      const { channels, isDamaged = false, sampleRate } = piece;
      if (isDamaged) throw new UnusableAudioError('is damaged');
      if ((channels[0]?.length ?? 0) === 0) continue;
      resampler ??= { rate: sampleRate, stream: await createResampler(sampleRate, SAMPLE_RATE) };
      if (sampleRate !== resampler.rate) throw new UnusableAudioError('changes its sample rate');
      const samples = resampler.stream.push(mixToMono(channels));
      if (samples.length > 0) yield samples;
    }
    if (resampler === undefined) throw new UnusableAudioError('has no sound');
    const rest = resampler.stream.finish();
    if (rest.length > 0) yield rest;
  } finally {
    resampler?.stream.close();
  }
}

async function* withTempo(
  pieces: AsyncIterable<Float32Array>,
  tempo: number,
): AsyncGenerator<Float32Array> {
  const sounds = (async function* () {
    for await (const samples of pieces) yield { samples, channels: 1, sampleRate: SAMPLE_RATE };
  })();
  for await (const { samples } of changeTempo(sounds, tempo)) yield samples;
}
