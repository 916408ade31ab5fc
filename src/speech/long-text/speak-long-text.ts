import { backoff, BACKOFF_BASE_MS, LONGEST_RETRY_AFTER_MS } from '../../api/retry.ts';
import { reviseFailure } from '../../api/revise-failure.ts';
import type { Verdict } from '../../audio/verdict.ts';
import { Failure } from '../../errors/failure.ts';
import type { Output } from '../../files/output.ts';
import type { AlignedSpeech } from '../aligned-way.ts';
import type { AudioStream } from '../speak.ts';
import { untilStopped } from '../until-stopped.ts';
import { inOrder } from './in-order.ts';
import { speakJobPart } from './job-part.ts';
import type { PartWords } from './part-words.ts';
import { readPartWords, WholeWords } from './part-words.ts';
import type { LongTextRecord } from './record.ts';
import type { StreamDeps } from './stream-part.ts';
import { speakStreamPart } from './stream-part.ts';
import { WholeAudio } from './whole-audio.ts';

export interface LongTextOptions extends StreamDeps {
  readonly record: LongTextRecord;
  /** The opened file; without it the audio goes to `stream`. */
  readonly output: Output | undefined;
  /** Stdout, a player, or both. */
  readonly stream: AudioStream;
  readonly concurrency: number;
  /** Told how many parts are spoken and joined. */
  readonly onProgress: (parts: number) => void;
  /** Of aligned parts: told the times of all words when the whole is checked, before it gets its name. */
  readonly onAligned?: ((text: string, speech: AlignedSpeech) => Promise<void>) | undefined;
}

/** A long text that was spoken to its end. */
export interface SpokenText {
  /** The file it is in; undefined when it went to stdout or to a player. */
  readonly path: string | undefined;
  readonly verdict: Verdict;
}

/**
 * Speaks the parts of a long text, several at a time, and joins them in order into one file or stream. A
 * file gets its name only when all of it is there and was checked; a stream begins with the first part
 * while the next ones are made. What a record has already is not asked for again, so that this is also
 * how an interrupted text is gone on with.
 * @throws Failure that says how to go on; the record stays then, unless nothing was paid for
 */
export async function speakLongText(options: LongTextOptions): Promise<SpokenText> {
  const { notice, output, record, signal } = options;
  try {
    const whole = new WholeAudio({
      ...options,
      format: record.plan.format,
      stream: sinkOf(options),
    });
    const words = new WholeWords();
    await inOrder(workOf(options, whole, words));
    const { checksum, verdict } = await whole.finish();
    await options.onAligned?.(record.text, words.speech(whole.starts(), verdict.durationMs));
    if (checksum !== undefined) await record.verified(checksum);
    const published = await output?.publish();
    if (output === undefined) await untilStopped(options.stream.end(), signal);
    await record.remove();
    return { path: published?.path, verdict };
  } catch (error) {
    const isPaid = await leave(record, error);
    const how = howToGoOn(record);
    if (signal?.aborted === true) {
      if (isPaid) notice(`foley: stopped; ${how}`);
      throw signal.reason;
    }
    if (!isPaid || !(error instanceof Failure)) throw error;
    const hint = [error.hint, capitalized(how)].filter((one) => one !== undefined).join(' ');
    throw reviseFailure(error, { hint, billed: paidParts(record) > 0 ? 'yes' : error.billed });
  }
}

function sinkOf({ signal, stream }: LongTextOptions) {
  return { write: (chunk: Uint8Array) => untilStopped(stream.write(chunk), signal) };
}

function workOf(options: LongTextOptions, whole: WholeAudio, words: WholeWords) {
  const { concurrency, files, onProgress, record, stream } = options;
  const { delivery, parts, via } = record.plan;
  const isStream = delivery === 'stream';
  const direct = {
    memoryBytes: stream.memoryBytes,
    write: (chunk: Uint8Array) => whole.write(chunk),
  };
  return {
    count: parts.length,
    concurrency,
    // What nobody listens to any more is not to be paid for.
    ahead: isStream ? concurrency : Infinity,
    async work(index: number): Promise<void> {
      if (via === 'job') {
        await retryPart(options, index, () => speakJobPart(record, index, options));
      } else if (isStream && index === 0) {
        // What was heard of it cannot be taken back.
        await speakStreamPart(record, index, options, direct);
      } else {
        await retryPart(options, index, () => speakStreamPart(record, index, options));
      }
    },
    async take(_: void, index: number): Promise<void> {
      if (record.part(index).state === 'delivered') await whole.endPart();
      else await whole.add(record.partFile(index));
      if (via === 'aligned') {
        words.add((await readPartWords(record.wordsFile(index), files)) ?? NO_WORDS);
      }
      if (isStream) await record.note({ part: index, state: 'delivered' });
      onProgress(index + 1);
    },
  };
}

/**
 * Speaks a part again after a failure of the network or of the service, as often as `--max-retries` says. The
 * keys stay the same and jobs are fetched, so that nothing is paid for twice.
 * @throws Failure of the last attempt, or the reason of the signal
 */
async function retryPart(
  { client, notice, record, signal }: LongTextOptions,
  index: number,
  attempt: () => Promise<void>,
): Promise<void> {
  const { clock, maxRetries, random } = client.retry;
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      const mayRetry = error instanceof Failure && isPassing(error, record, index);
      if (!mayRetry || count > maxRetries) throw error;
      notice(
        `foley: part ${index + 1} of ${record.plan.parts.length}: ${error.message}; trying again`,
      );
      await clock.sleep(backoff(count, BACKOFF_BASE_MS) * (1 + random.fraction()), signal);
    }
  }
}

/** Whether the next attempt may succeed, and cannot be charged a second time. */
function isPassing(
  { billed, details, exit, retryAfter = 0 }: Failure,
  record: LongTextRecord,
  index: number,
): boolean {
  if (details?.['retryable'] === false || retryAfter * 1_000 > LONGEST_RETRY_AFTER_MS) return false;
  if (record.plan.via === 'job') return [...PASSING_EXITS, 'badAnswer'].includes(exit);
  const isFree = billed === 'no' || record.part(index).key !== undefined;
  return isFree && PASSING_EXITS.includes(exit);
}

const PASSING_EXITS: readonly string[] = ['network', 'rateLimited', 'service', 'unknownOutcome'];

/** A part whose times are gone has none. */
const NO_WORDS: PartWords = { words: [], isComplete: false };

/** Closes the record, or removes it when nothing in it is of any worth; whether it stays. */
async function leave(record: LongTextRecord, error: unknown): Promise<boolean> {
  const isOpen = error instanceof Failure && error.billed === 'unknown';
  const isOver = record.plan.delivery === 'stream' && paidParts(record) === 0;
  const stays = !isOver && (paidParts(record) > 0 || isOpen);
  if (stays) await record.close();
  else await record.remove();
  return stays;
}

/** Parts that were charged for and did not get to where they should. */
function paidParts(record: LongTextRecord): number {
  const isPaid = (index: number): boolean =>
    ['accepted', 'done'].includes(record.part(index).state);
  return record.plan.parts.filter((_, index) => isPaid(index)).length;
}

function howToGoOn(record: LongTextRecord): string {
  const { delivery, id, parts } = record.plan;
  const paid = `${paidParts(record)} of ${parts.length} parts are paid for`;
  return delivery === 'stream'
    ? `${paid} and were not delivered; \`foley recover ${id}\` tells what they cost`
    : `${paid}; \`foley recover ${id}\` fetches them and speaks the rest`;
}

function capitalized(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}
