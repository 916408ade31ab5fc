import path from 'node:path';
import { checksumOf, kindOf } from '../files/checksum.ts';
import { hasErrno } from '../files/errno.ts';
import type { FileDeps } from '../files/file-deps.ts';
import type { IntentJournal, OpenIntent, SettledState } from '../files/intents.ts';
import { downloadName } from '../files/names.ts';
import { openOutput } from '../files/publish.ts';
import { stateFailure } from '../files/state-failures.ts';
import type { Spool, SpoolEntry } from '../files/spool.ts';
import type { Recovered } from './leftovers.ts';
import type { LeftText } from './long-text/record-list.ts';
import { mayRun } from './leftovers.ts';

export interface RecoverDeps extends FileDeps {
  /** Goes on with a text that is spoken in parts. */
  readonly recoverText: (left: LeftText) => Promise<Recovered>;
  readonly spool: Spool;
  readonly journal: IntentJournal;
  /** Fetches what a job made whose command came to no end; throws Failures, or the signal's reason. */
  readonly recoverJob: (intent: OpenIntent, jobId: string) => Promise<Recovered>;
}

/**
 * Whole audio in the spool gets the name it was meant to have, or one like it where that is taken; of a
 * part it is told what is lost.
 * @param intent its operation, where that has not ended
 * @throws Failure (output, state)
 */
export async function recoverAudio(
  entry: SpoolEntry,
  intent: OpenIntent | undefined,
  deps: RecoverDeps,
): Promise<Recovered> {
  const { record } = entry;
  const told = {
    id: entry.id,
    creditsUsed: record?.creditsUsed ?? intent?.facts.creditsUsed ?? null,
    requestId: record?.requestId ?? intent?.facts.requestId ?? null,
    jobId: intent?.facts.jobId ?? null,
    idempotencyKey: null,
    problem: record?.problem ?? null,
  };
  const settle = async (state: SettledState): Promise<void> => {
    if (intent === undefined) return;
    await deps.journal.resume(intent).settle(state, { spoolId: entry.id });
  };
  if (intent !== undefined && mayRun(intent, deps.clock)) {
    return { ...told, outcome: 'running', output: entry.path };
  }
  const isWhole = record?.complete === true || (await isVerified(entry.path, intent, deps));
  if (!isWhole) {
    await settle('kept');
    const lost = { ...told, outcome: 'lost', output: entry.path } as const;
    if (record?.reported === true) return { ...lost, isReported: true };
    await deps.spool.markReported(entry);
    return lost;
  }
  const extension = record?.extension ?? path.extname(entry.path).slice(1);
  const known = record?.output ?? intent?.about?.output ?? undefined;
  const output = await publishCopy(entry, known ?? downloadName(entry.id, extension), deps);
  await deps.spool.remove(entry);
  await settle('published');
  return { ...told, outcome: 'recovered', output };
}

/**
 * Whether a file is there and is what the command had found whole before it came to its end.
 * @throws Failure (state) when that cannot be found out
 */
export async function isVerified(
  file: string,
  intent: OpenIntent | undefined,
  { files }: Pick<FileDeps, 'files'>,
): Promise<boolean> {
  const wanted = intent?.facts.checksum;
  if (wanted === undefined) return false;
  return (await orNothing(file, checksumOf(file, kindOf(wanted), files))) === wanted;
}

/**
 * What was found out about a file; undefined when there is none.
 * @throws Failure (state) when that cannot be found out
 */
export async function orNothing<T>(file: string, work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw stateFailure('what was left', file, error);
  });
}

async function publishCopy(entry: SpoolEntry, wanted: string, deps: RecoverDeps): Promise<string> {
  const output = await openOutput({ ...deps, path: wanted, existing: 'number' });
  try {
    const kept = await deps.files.open(entry.path, 'r');
    for await (const chunk of kept.createReadStream({ highWaterMark: 1 << 20 })) {
      await output.write(chunk);
    }
    return (await output.publish()).path;
  } finally {
    await output.abandon();
  }
}
