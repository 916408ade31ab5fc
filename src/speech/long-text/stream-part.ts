import { openOutput } from '../../files/publish.ts';
import type { FileDeps } from '../../files/file-deps.ts';
import type { AudioStream, SpeakOptions, Spoken } from '../speak.ts';
import { speak } from '../speak.ts';
import { isPartThere } from './part-file.ts';
import { ownPartKey } from './part-keys.ts';
import type { PartDeps } from './job-part.ts';
import type { LongTextRecord } from './record.ts';

export interface StreamDeps
  extends PartDeps, FileDeps, Pick<SpeakOptions, 'journal' | 'spool' | 'notice'> {
  readonly cache?: boolean | undefined;
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
  const spoken = await (direct === undefined
    ? speakIntoFile(record, index, deps)
    : speak({ ...optionsOf(record, index, deps), output: undefined, stream: openEnded(direct) }));
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
  { cache, client, hasOwnKey, journal, notice, requestId, signal, spool }: StreamDeps,
): Omit<SpeakOptions, 'output' | 'stream'> {
  const { format, order, surface } = record.plan;
  const { key } = record.part(index);
  return {
    client,
    body: { ...order, text: record.partText(index) },
    speech: {
      surface,
      cache,
      idempotencyKey: key === undefined ? undefined : { value: key, madeByTool: !hasOwnKey },
      requestId: requestId === undefined ? undefined : ownPartKey(requestId, index),
      signal,
    },
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
