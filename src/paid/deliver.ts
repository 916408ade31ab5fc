import { reviseFailure } from '../api/failures.ts';
import type { FileResponse } from '../api/resources/speech.ts';
import type { Format } from '../audio/formats.ts';
import { FORMATS } from '../audio/formats.ts';
import type { AudioVerdict } from '../audio/reader.ts';
import { createVerifier } from '../audio/verify.ts';
import type { Output, Published } from '../durable/output.ts';
import type { Spool, SpoolAbout, SpoolWriter } from '../durable/spool.ts';
import { abortable } from '../system/concurrency.ts';
import { Failure } from '../errors/failure.ts';
import { countCodePoints } from '../text/code-points.ts';
import type { SpooledAudio } from './billed-request.ts';
import type { AudioCopy } from './reuse/reuse-store.ts';

/** A destination of audio, such as a file, stdout or a player. A slow destination slows the sender. */
export interface AudioSink {
  /**
   * Writes a chunk; resolves when the caller may write the next chunk.
   * @param onWritten called when the sink no longer uses the chunk; might never be called
   */
  write(chunk: Uint8Array, onWritten?: () => void): Promise<void>;
}

/** Stdout, a player, or another destination without a file of its own. */
export interface AudioOutputStream extends AudioSink {
  /** Ends the stream; resolves when the reader has received all audio. */
  end(): Promise<void>;
  /** Returns what was written, if the stream encoded the audio. Called after `end`. */
  readonly encoded?: (() => Omit<Published, 'path'> | undefined) | undefined;
}

interface AudioDestination extends AudioSink {
  /**
   * Called when the audio is unusable. The destination then saves the bytes for the user, but does not create the
   * output file.
   */
  refuse?(failure: Failure): Promise<void>;
}

/**
 * Writes the audio of a response to a destination, and verifies it as it arrives. Unusable audio is billed too: if the
 * destination has the method `refuse`, foley therefore writes more audio after a problem, up to a limit.
 * @param text the spoken text, which limits the length of the audio; undefined if unknown
 * @param copy stores verified audio for `--reuse`
 * @throws Failure of kind `bad_answer` if the audio has another format, is incomplete or is too long
 */
export async function deliver(
  response: FileResponse,
  format: Format,
  destination: AudioDestination,
  text: string | undefined,
  copy?: AudioCopy,
): Promise<AudioVerdict> {
  try {
    const verdict = await receive(response, format, { destination, copy }, text);
    await copy?.save(verdict);
    return verdict;
  } catch (error) {
    await copy?.abandon();
    throw error;
  }
}

async function receive(
  response: FileResponse,
  format: Format,
  {
    copy,
    destination,
  }: { readonly destination: AudioDestination; readonly copy?: AudioCopy | undefined },
  text: string | undefined,
): Promise<AudioVerdict> {
  const maxBytes = response.maxBytes ?? mostBytes(text, format);
  const verifier = createVerifier(format, { pcm: response.pcm });
  let total = 0;
  let refusedBytes = 0;
  let failure: Failure | undefined;
  const refuse = async (reason: Failure): Promise<void> => {
    failure ??= reason;
    if (destination.refuse === undefined) throw failure;
    await destination.refuse(failure);
  };
  const read = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of withLongFirstChunk(body)) {
      if (failure === undefined) {
        verifier.write(chunk);
        const { problem } = verifier;
        if (problem !== undefined) await refuse(unusable(problem, format, response));
      }
      // Before the memory of the chunk is reused.
      await copy?.write(chunk);
      await destination.write(chunk, () => response.reuse?.(chunk));
      if ((total += chunk.length) > maxBytes) {
        const reason = `is longer than ${maxBytes} bytes, which no text of this length needs`;
        const hint = 'If audio of this length is correct, allow it with --max-bytes.';
        await refuse(reviseFailure(unusable(reason, format, response), { hint }));
        break;
      }
      if (failure !== undefined && (refusedBytes += chunk.length) > MOST_REFUSED_BYTES) break;
    }
  };
  for (let { body, framing } = response; ;) {
    await read(body).catch((error: unknown) => {
      response.discard();
      throw error instanceof Failure ? (failure ?? error) : error;
    });
    if (failure !== undefined) throw failure;
    const verdict = verifier.end();
    // A failing proxy also closes the connection: the audio might be incomplete.
    const isOpenEnded = framing === 'close';
    const mayBeCut = isOpenEnded && !verdict.endIsProven;
    const problem = verdict.problem ?? (mayBeCut ? MAY_BE_CUT : undefined);
    if (problem === undefined) return verdict;
    const cut = unusable(problem, format, response);
    if (!isOpenEnded || response.rest === undefined) throw cut;
    ({ body, framing } = await response.rest(cut));
  }
}

/**
 * Completes verified audio: gives the file its final name, or ends the stream.
 * @param stream used only if `output` is undefined
 * @param onVerified called with the checksum before that; undefined for a stream
 * @returns the path, the checksum and the verdict of what was written, which is encoded audio if the output encodes it
 */
export async function publishVerified(
  {
    output,
    stream,
  }: { readonly output?: Output | undefined; readonly stream?: AudioOutputStream | undefined },
  verdict: AudioVerdict,
  signal: AbortSignal | undefined,
  onVerified: (checksum: string | undefined) => Promise<void>,
) {
  for (const { position, bytes } of verdict.corrections) await output?.overwrite(position, bytes);
  const checksum = await output?.checksum();
  await onVerified(checksum);
  const published = await output?.publish();
  if (output === undefined && stream !== undefined) await abortable(stream.end(), signal);
  const written = published ?? stream?.encoded?.();
  return {
    path: published?.path,
    checksum: published?.encoded?.checksum ?? checksum,
    verdict: writtenVerdict(verdict, written),
  };
}

function writtenVerdict(
  verdict: AudioVerdict,
  written: Omit<Published, 'path'> | undefined,
): AudioVerdict {
  if (written?.encoded === undefined) return verdict;
  const { durationMs = verdict.durationMs, format, sampleRate } = written.encoded;
  if (sampleRate === undefined) return { ...verdict, bytes: written.bytes };
  const codec = format === 'm4a' || format === 'm4b' ? 'aac' : format === 'ogg' ? 'vorbis' : format;
  return { ...verdict, format, codec, sampleRate, durationMs, channels: 1, bytes: written.bytes };
}

const MAY_BE_CUT =
  'may be cut off: neither the length of the response nor the format shows where it ends';

// Unusable audio is saved only up to this size.
const MOST_REFUSED_BYTES = 64 * 1024 * 1024;

// These leading bytes suffice to recognize every format.
const LEADING_BYTES = 64;

async function* withLongFirstChunk(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let leading: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const chunk of body) {
    if (leading === undefined) {
      yield chunk;
      continue;
    }
    leading.push(chunk);
    size += chunk.length;
    if (size < LEADING_BYTES) continue;
    yield Buffer.concat(leading);
    leading = undefined;
  }
  if (leading !== undefined && size > 0) yield Buffer.concat(leading);
}

function unusable(
  problem: string,
  format: Format,
  { creditsUsed, requestId }: FileResponse,
): Failure {
  const { kind } = FORMATS[format];
  return new Failure(`the ${kind} ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'If this error happens again, report the request id to the service.',
    requestId,
    billed: creditsUsed === undefined ? 'unknown' : 'yes',
  });
}

/**
 * Estimates the size of the audio for a text, in bytes. Assumes 12 characters a second and the usual bit rate of the
 * format.
 * @param silenceMs silence to add to the speech, in milliseconds
 */
export function expectedBytes(text: string, format: Format, silenceMs = 0): number {
  const seconds = countCodePoints(text) / CHARACTERS_PER_SECOND + silenceMs / 1000;
  return Math.ceil(seconds * (COMPRESSED.has(format) ? 16_000 : WAV_BYTES_PER_SECOND)) + HEAD_BYTES;
}

function mostBytes(text: string | undefined, format: Format): number {
  if (text === undefined) return MOST_UNKNOWN_BYTES;
  return Math.max(MOST_USUAL_BYTES, TIMES_EXPECTED * expectedBytes(text, format));
}

const CHARACTERS_PER_SECOND = 12;
// 48,000 samples of 16 bits.
const WAV_BYTES_PER_SECOND = 96_000;
// A second of speech takes at most 16,000 bytes.
const COMPRESSED: ReadonlySet<Format> = new Set(['mp3', 'ogg', 'opus', 'aac', 'm4a']);
const HEAD_BYTES = 1_024;

const TIMES_EXPECTED = 8;
const MOST_USUAL_BYTES = 256 * 1024 * 1024;
// For audio whose text is unknown: the largest length that a wav header can express.
const MOST_UNKNOWN_BYTES = 4 * 1024 * 1024 * 1024;

interface RecoverableSink extends AudioSink {
  moveTo(spool: Spool, about: SpoolAbout): Promise<SpoolWriter | undefined>;
}

/**
 * Writes billed audio to a sink. If the sink fails, moves the audio to the spool and writes all later bytes there. The
 * caller must then report the error in `failure` at the end.
 */
export class FallbackSink implements AudioDestination {
  failure: Failure | undefined;
  readonly #sink: RecoverableSink;
  readonly #spool: () => Promise<Spool>;
  readonly #about: () => SpoolAbout;
  #writer: SpoolWriter | undefined;
  #hasTaken = false;
  #leftAt: string | undefined;
  // The spool failed after the sink had failed: the remaining audio is lost.
  #isCut = false;

  /** @param about returns the metadata for the spool; called when the audio has to be saved */
  constructor(sink: RecoverableSink, spool: () => Promise<Spool>, about: () => SpoolAbout) {
    this.#sink = sink;
    this.#spool = spool;
    this.#about = about;
  }

  async write(chunk: Uint8Array, onWritten?: () => void): Promise<void> {
    this.#hasTaken = true;
    if (this.failure !== undefined) return this.#spoolChunk(chunk);
    try {
      await this.#sink.write(chunk, onWritten);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      await this.refuse(error);
    }
  }

  async refuse(failure: Failure): Promise<void> {
    this.failure ??= failure;
    this.#writer ??= await this.#move();
  }

  /** Saves the audio received so far. Returns undefined if there is no audio, or if it cannot be saved. */
  async save(outcome: { complete: boolean; problem: string }): Promise<SpooledAudio | undefined> {
    if (!this.#hasTaken) return undefined;
    const writer = this.#writer ?? (await this.#move());
    if (writer === undefined) {
      if (this.#leftAt === undefined) return undefined;
      return { id: undefined, path: this.#leftAt, complete: false };
    }
    const complete = outcome.complete && !this.#isCut;
    const isRecorded = await writer.keep({ ...outcome, complete }).then(
      () => true,
      () => false,
    );
    return { id: writer.id, path: writer.path, complete: complete && isRecorded };
  }

  // Failures are ignored, because the first failure is reported.
  async #move(): Promise<SpoolWriter | undefined> {
    try {
      return await this.#sink.moveTo(await this.#spool(), this.#about());
    } catch (error) {
      const left = error instanceof Failure ? error.details?.['left'] : undefined;
      if (typeof left === 'string') this.#leftAt = left;
      return undefined;
    }
  }

  async #spoolChunk(chunk: Uint8Array): Promise<void> {
    this.#isCut ||= this.#writer === undefined;
    if (this.#isCut) return;
    try {
      await this.#writer?.write(chunk);
    } catch {
      this.#isCut = true;
    }
  }
}

/** Wraps an output file. If the output fails, its audio can be moved to the spool. */
export function recoverableFile(output: Output): RecoverableSink {
  return {
    write: (chunk, onWritten) => output.write(chunk, onWritten),
    async moveTo(spool, about) {
      const released = await output.release();
      return released === undefined ? undefined : spool.adopt(released, about);
    },
  };
}

/**
 * Wraps a stream and keeps its bytes in memory, so that they can be moved to the spool. Audio of more than
 * `memoryBytes` bytes cannot be saved.
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
      try {
        for (const chunk of memory) await writer.write(chunk);
        return writer;
      } catch (error) {
        await writer.keep({ complete: false }).catch(() => undefined);
        throw error;
      }
    },
  };
}
