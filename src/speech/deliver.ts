import type { FileResponse } from '../api/resources/speech.ts';
import type { Format } from '../audio/formats.ts';
import { FORMATS } from '../audio/formats.ts';
import type { Verdict } from '../audio/reader.ts';
import { createVerifier } from '../audio/verify.ts';
import { reviseFailure } from '../api/failures.ts';
import { Failure } from '../errors/failure.ts';
import { countCodePoints } from '../text/code-points.ts';

/** Enough leading bytes to know every format by its mark. */
const LEADING_BYTES = 64;

/** Something that takes audio: a file, stdout, a player. A slow one slows the sender. */
export interface AudioSink {
  /**
   * Takes a chunk; resolves when there is room for more.
   * @param onWritten the sink does not look at the chunk any more; one that keeps it never says so
   */
  write(chunk: Uint8Array, onWritten?: () => void): Promise<void>;
}

/** Where an answer is delivered to. */
export interface Destination extends AudioSink {
  /** From here on nothing may be published any more; what still comes is only kept. */
  refuse(failure: Failure): Promise<void>;
}

/** So much of what cannot be used is kept. */
const MOST_REFUSED_BYTES = 64 * 1024 * 1024;

/**
 * Hands a file on as it arrives and checks it on the way: its leading bytes before the first is handed
 * on, the rest while it streams, its end at the end. Buffers no more than the
 * leading bytes. What turns out not to be the format was paid for all the same: the destination keeps it.
 * @param text what was spoken, which says how long the audio may be; undefined where it is not known
 * @throws Failure (bad_answer) when the bytes are not the format that was asked for, end too early or not
 *   at all
 */
export async function deliver(
  answer: FileResponse,
  format: Format,
  destination: Destination,
  text: string | undefined,
): Promise<Verdict> {
  const maxBytes = answer.maxBytes ?? mostBytes(text, format);
  let total = 0;
  const verifier = createVerifier(format, { pcm: answer.pcm });
  let refused: { readonly failure: Failure; bytes: number } | undefined;
  try {
    for await (const chunk of leadingTogether(answer.body)) {
      if (refused === undefined) verifier.write(chunk);
      const { problem } = verifier;
      if (problem !== undefined && refused === undefined) {
        refused = { failure: unusable(problem, format, answer), bytes: 0 };
        await destination.refuse(refused.failure);
      }
      await destination.write(chunk, () => answer.reuse?.(chunk));
      if ((total += chunk.length) > maxBytes) {
        refused ??= { failure: tooLong(maxBytes, format, answer), bytes: 0 };
        await destination.refuse(refused.failure);
        break;
      }
      if (refused !== undefined && (refused.bytes += chunk.length) > MOST_REFUSED_BYTES) break;
    }
  } catch (error) {
    answer.discard();
    throw refused !== undefined && error instanceof Failure ? refused.failure : error;
  }
  if (refused !== undefined) throw refused.failure;
  const verdict = verifier.end();
  const problem = verdict.problem ?? (mayBeCut(answer, verdict) ? MAY_BE_CUT : undefined);
  if (problem !== undefined) throw unusable(problem, format, answer);
  return verdict;
}

/** Ended by the connection alone, which also ends when something in between gives up. */
function mayBeCut({ framing }: FileResponse, { endIsProven }: Verdict): boolean {
  return framing === 'close' && !endIsProven;
}

const MAY_BE_CUT =
  'may be cut: the answer did not say how long it is, and the format does not tell either';

/** The same bytes, with the first chunk long enough to be recognised. */
async function* leadingTogether(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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

function tooLong(maxBytes: number, format: Format, answer: FileResponse): Failure {
  const problem = `is longer than ${maxBytes} bytes, which no text of this length needs`;
  return reviseFailure(unusable(problem, format, answer), {
    hint: 'If it should be as long, allow more with --max-bytes.',
  });
}

function unusable(
  problem: string,
  format: Format,
  { creditsUsed, requestId }: FileResponse,
): Failure {
  return new Failure(`the ${FORMATS[format].kind} ${problem}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'If it happens again, ask the service, with the request id.',
    requestId,
    billed: creditsUsed === undefined ? 'unknown' : 'yes',
  });
}

/** Estimates the audio of a text in bytes: 12 characters a second, at the usual rate of the format. */
export function expectedBytes(text: string, format: Format): number {
  const seconds = countCodePoints(text) / CHARACTERS_PER_SECOND;
  return Math.ceil(seconds * (BYTES_PER_SECOND[format] ?? WAV_BYTES_PER_SECOND)) + HEAD_BYTES;
}

/** Returns the largest plausible audio of a text in bytes, so that an endless response is cut off. */
function mostBytes(text: string | undefined, format: Format): number {
  if (text === undefined) return MOST_UNKNOWN_BYTES;
  return Math.max(MOST_USUAL_BYTES, TIMES_EXPECTED * expectedBytes(text, format));
}

const CHARACTERS_PER_SECOND = 12;
/** Of 48,000 samples of 16 bits. */
const WAV_BYTES_PER_SECOND = 96_000;
/** Of formats that compress, at the rates that services use for speech. */
const BYTES_PER_SECOND: Partial<Record<Format, number>> = {
  mp3: 16_000,
  ogg: 16_000,
  opus: 16_000,
  aac: 16_000,
  m4a: 16_000,
};
const HEAD_BYTES = 1_024;

const TIMES_EXPECTED = 8;
const MOST_USUAL_BYTES = 256 * 1024 * 1024;
/** What the length in the head of a wav can say. */
const MOST_UNKNOWN_BYTES = 4 * 1024 * 1024 * 1024;
