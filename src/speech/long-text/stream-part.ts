import { Failure } from '../../errors/failure.ts';
import { openOutput } from '../../files/publish.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import type { AudioStream, SpeakOptions, Spoken } from '../speak.ts';
import { speak } from '../speak.ts';
import { alignedWay } from '../aligned-way.ts';
import { isPartThere } from './part-file.ts';
import { nextPartKey, ownPartKey } from './part-keys.ts';
import { writePartWords } from './part-words.ts';
import type { PartDeps } from './job-part.ts';
import type { LongTextRecord } from './record.ts';

export interface StreamDeps
  extends PartDeps, FileDeps, Pick<SpeakOptions, 'journal' | 'spool' | 'notice'> {
  readonly cache?: boolean | undefined;
  /** Longest wait for the next event of an aligned stream, in milliseconds. */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * A part that was paid for and cannot be had again is bought once more; without it that is a failure.
   */
  readonly buysLost?: boolean | undefined;
}

/** Where a part goes that is heard while it comes; without it, into its file. */
export type Direct = Pick<AudioStream, 'write' | 'memoryBytes'>;

/**
 * Has one part spoken as a stream, whose audio cannot be had again; one that is there already is not asked
 * for again.
 * @throws Failure, as `speak`
 */
export async function speakStreamPart(
  record: LongTextRecord,
  index: number,
  deps: StreamDeps,
  direct?: Direct,
): Promise<void> {
  const { state, bytes } = record.part(index);
  const file = record.partFile(index);
  if (state === 'done' && (await isPartThere(file, bytes, deps.files))) return;
  const attempt = (): Promise<Spoken> =>
    direct === undefined
      ? speakIntoFile(record, index, deps)
      : speak({ ...optionsOf(record, index, deps), output: undefined, stream: openEnded(direct) });
  const spoken = await attempt().catch(async (error: unknown) => {
    if (!isLost(error) || deps.buysLost !== true || record.plan.via !== 'aligned') throw error;
    const key = nextPartKey(record.part(index).key, deps.random);
    await record.note({ part: index, state: 'keyed', key });
    deps.notice(
      `foley: part ${index + 1} was paid for and cannot be had again; it is spoken once more`,
    );
    return attempt();
  });
  await record.note({
    part: index,
    state: direct === undefined ? 'done' : 'delivered',
    bytes: spoken.verdict.bytes,
    creditsUsed: spoken.answer.creditsUsed,
    requestId: spoken.answer.requestId,
    quotaRemaining: spoken.answer.quotaRemaining,
    ignoredParameters: spoken.answer.ignoredParameters,
  });
}

/** It was completed under its key, and what it said is gone. */
function isLost(error: unknown): boolean {
  return error instanceof Failure && error.exit === 'lost';
}

async function speakIntoFile(
  record: LongTextRecord,
  index: number,
  deps: StreamDeps,
): Promise<Spoken> {
  const output = await openOutput({ ...deps, path: record.partFile(index), mode: 0o600 });
  try {
    return await speak({ ...optionsOf(record, index, deps), output, stream: NOWHERE });
  } finally {
    // After it was published or kept this does nothing.
    await output.abandon();
  }
}

function optionsOf(
  record: LongTextRecord,
  index: number,
  deps: StreamDeps,
): Omit<SpeakOptions, 'output' | 'stream'> {
  const { cache, client, hasOwnKey, journal, notice, requestId, signal, spool } = deps;
  const { format, order, surface, via } = record.plan;
  const { key } = record.part(index);
  const body = { ...order, text: record.partText(index) };
  const speech = {
    idempotencyKey: key === undefined ? undefined : { value: key, madeByTool: !hasOwnKey },
    requestId: requestId === undefined ? undefined : ownPartKey(requestId, index),
    signal,
  };
  return {
    client,
    body,
    speech: { ...speech, surface, cache },
    way:
      via === 'aligned'
        ? alignedWay(client, body, { ...deps, ...speech }, (words) =>
            writePartWords(record.wordsFile(index), words, deps),
          )
        : undefined,
    plan: { kind: 'stdout', format },
    journal,
    spool,
    notice,
  };
}

/** A part ends, and what it goes into does not. */
function openEnded({ memoryBytes, write }: Direct): AudioStream {
  return { write, memoryBytes, end: () => Promise.resolve() };
}

const NOWHERE: AudioStream = {
  write: () => Promise.resolve(),
  end: () => Promise.resolve(),
  memoryBytes: 0,
};
