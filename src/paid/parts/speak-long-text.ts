import { reviseFailure } from '../../api/failures.ts';
import { noticeTrouble } from '../../api/poll.ts';
import { formatRanges } from '../../contract/unspoken.ts';
import type { JoinedMarks } from '../../audio/encode/tags.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import type { Output } from '../../durable/output.ts';
import { abortable } from '../../system/concurrency.ts';
import { Failure } from '../../errors/failure.ts';
import type { WordTimes } from '../speakers/aligned-transport.ts';
import { audibleSpeech } from '../speakers/aligned-transport.ts';
import { publishVerified } from '../deliver.ts';
import type { AudioStream } from '../speakers/speak-stream.ts';
import { reusedOf } from '../reuse/reused.ts';
import { wordRanges } from '../unspoken.ts';
import { readPartWords, speakPart } from './speak-part.ts';
import type { PartDeps } from './speak-part.ts';
import type { LongTextRecord, InterruptedText } from './record.ts';
import type { SpokenPart } from './speak-parts.ts';
import { speakParts } from './speak-parts.ts';
import type { PartWords } from './whole-audio.ts';
import { WholeAudio, wholeRanges } from './whole-audio.ts';

export interface LongTextOptions extends PartDeps {
  readonly record: LongTextRecord;
  /** The open output file; if undefined, the audio goes to `stream`. */
  readonly output: Output | undefined;
  /** Tags and chapters of the file. */
  readonly marks?: JoinedMarks | undefined;
  /** The destination if there is no output file: stdout, a player, or both. */
  readonly stream: AudioStream;
  readonly concurrency: number;
  /** Called with the number of parts that are joined so far. */
  readonly onProgress: (parts: number) => void;
  /** Called with the word times after the audio was verified, before the audio file gets its final name. */
  readonly onAligned?: ((text: string, speech: WordTimes) => Promise<void>) | undefined;
}

/**
 * Speaks the parts of a long text concurrently, and joins the audio in order. A file gets its final name after all
 * audio is verified; a stream starts as soon as the first part is ready. Skips parts that an interrupted command has
 * saved.
 * @throws Failure. If parts may have been billed, the progress stays saved and the hint names the command to run next.
 */
export async function speakLongText(
  options: LongTextOptions,
): Promise<{ readonly path: string | undefined; readonly verdict: AudioVerdict }> {
  const { concurrency, notice, onProgress, output, record, signal } = options;
  const { chapters = [], delivery, format, silences = [] } = record.plan;
  const isStream = delivery === 'stream';
  const joined: number[] = [];
  try {
    const whole = new WholeAudio({
      files: options.system.files,
      output,
      marks: options.marks,
      format,
      stream: { write: (chunk) => abortable(options.stream.write(chunk), signal) },
      sampleRate: () => firstSampleRate(record),
    });
    options.marks?.timeBy(() => {
      const [starts, end] = [whole.starts(), whole.durationMs()];
      // A part that was left out has no start of its own.
      const startOf = (part: number): number =>
        starts[joined.findIndex((index) => index >= part)] ?? end;
      return [...chapters.map(({ part }) => startOf(part)), end];
    });
    const { speech, verdict } = await speakParts(partsOf(options, whole), whole, {
      ...options,
      silences,
      // Parts that are not played must not be billed.
      ahead: isStream ? concurrency : Infinity,
      onJoined: async (part, hasAudio) => {
        if (hasAudio) joined.push(part);
        if (isStream && hasAudio) await record.note({ part, state: 'published' });
        onProgress(part + 1);
      },
    });
    const published = await publishVerified(options, verdict, signal, async (checksum) => {
      const audible = await output?.audible?.();
      await options.onAligned?.(record.text, audibleSpeech(speech, audible));
      if (checksum !== undefined) await record.verified(checksum);
    });
    await record.remove();
    return published;
  } catch (error) {
    const isPaid = await closeRecord(record, error);
    const how = resumeHint(record);
    if (signal?.aborted === true) {
      if (isPaid) notice(`foley: stopped; ${how}`);
      throw signal.reason;
    }
    if (!isPaid || !(error instanceof Failure)) throw error;
    const hints = error.exit === 'lost' ? [error.hint] : [error.hint, capitalized(how)];
    const hint = hints.filter((one) => one !== undefined).join(' ');
    throw reviseFailure(error, { hint, billed: paidParts(record) > 0 ? 'yes' : error.billed });
  }
}

function firstSampleRate(record: LongTextRecord): number | undefined {
  const rates = record.plan.parts.map((_, index) => record.part(index).sampleRate);
  return rates.find((rate) => rate !== undefined);
}

function partsOf(options: LongTextOptions, whole: WholeAudio): readonly SpokenPart[] {
  const { notice, record, stream } = options;
  const { delivery, format, parts, silences, via } = record.plan;
  // Raw samples do not have their rate, which silence before them needs.
  const isDirect = delivery === 'stream' && (format !== 'pcm' || (silences?.[0] ?? 0) === 0);
  const direct = {
    memoryBytes: stream.memoryBytes,
    write: (chunk: Uint8Array) => whole.write(chunk),
  };
  const deps = { ...options, onTrouble: noticeTrouble(notice) };
  return parts.map((_, index) => ({
    order: record.partOrder(index),
    async speak() {
      await speakPart(record, index, deps, isDirect && index === 0 ? direct : undefined);
      return true;
    },
    leaveOut: (refusal) => leaveOut(record, index, refusal),
    async join() {
      if (record.part(index).state === 'published') await whole.endPart();
      else await whole.add(record.partFile(index));
    },
    async words() {
      if (via !== 'aligned') return undefined;
      return (await readPartWords(record.wordsFile(index), options.system.files)) ?? NO_WORDS;
    },
  }));
}

function leaveOut(record: LongTextRecord, part: number, { requestId }: Failure): Promise<void> {
  const unspoken = formatRanges(wordRanges(record.partText(part)));
  const none = { creditsUsed: 0, ignoredParameters: [] };
  return record.note({ part, state: 'failed', unspoken, requestId, ...none });
}

const NO_WORDS: PartWords = { words: [], isComplete: false };

async function closeRecord(record: LongTextRecord, error: unknown): Promise<boolean> {
  const isOpen = error instanceof Failure && error.billed === 'unknown';
  const isOver = record.plan.delivery === 'stream' && paidParts(record) === 0;
  const stays = !isOver && (paidParts(record) > 0 || isOpen);
  if (stays) await record.close();
  else await record.remove();
  return stays;
}

function paidParts(record: LongTextRecord): number {
  const isPaid = (index: number): boolean => {
    const { isReused, state } = record.part(index);
    return isReused !== true && ['accepted', 'verified'].includes(state);
  };
  return record.plan.parts.filter((_, index) => isPaid(index)).length;
}

function resumeHint(record: LongTextRecord): string {
  const { delivery, id, parts } = record.plan;
  const paid = `${paidParts(record)} of ${parts.length} parts are paid for`;
  return delivery === 'stream'
    ? `${paid} and were not delivered; \`foley recover ${id}\` shows what they cost`
    : `${paid}; \`foley recover ${id}\` fetches them and speaks the rest`;
}

function capitalized(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

/**
 * Returns the totals of the recorded parts. The cost is undefined if any part does not report its cost. `partial`
 * lists the parts that were spoken incompletely, numbered from 1.
 */
export function totalsOf(record: LongTextRecord) {
  const states = record.plan.parts.map((_, index) => record.part(index));
  const credits = states.map(({ creditsUsed }) => creditsUsed);
  const quotas = states
    .map(({ quotaRemaining }) => quotaRemaining)
    .filter((quota) => quota !== undefined);
  const known = credits.filter((one) => one !== undefined);
  return {
    creditsUsed: known.length < credits.length ? undefined : sum(known),
    reused: reusedOf(states),
    quotaRemaining: quotas.length === 0 ? undefined : Math.min(...quotas),
    requestId: states[0]?.requestId ?? '',
    ignoredParameters: Array.from(
      new Set(states.flatMap(({ ignoredParameters }) => ignoredParameters ?? [])),
    ),
    reportsIgnored: states.every(({ ignoredParameters }) => ignoredParameters !== undefined),
    unspoken: wholeRanges(record.text, record.plan.parts, (index) => record.part(index).unspoken),
    partial: states.flatMap(({ isPartial }, index) => (isPartial === true ? [index + 1] : [])),
  };
}

/** Returns the total cost of the billed parts whose audio was not delivered. Parts without a known cost count as 0. */
export function costOf({ plan, states }: InterruptedText) {
  const atStake = plan.parts
    .map((_, index) => states.get(index))
    .filter((part) => part?.state === 'accepted' || part?.state === 'verified');
  return { creditsUsed: sum(atStake.map((part) => part?.creditsUsed ?? 0)) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
