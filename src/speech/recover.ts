import path from 'node:path';
import type { FileDeps } from '../files/file-deps.ts';
import type { IntentJournal, OpenIntent } from '../files/intents.ts';
import { downloadName } from '../files/names.ts';
import { openOutput } from '../files/publish.ts';
import { isTemporaryName } from '../files/temporary.ts';
import type { Spool, SpoolEntry } from '../files/spool.ts';

/** One thing that an interrupted command left behind. */
export type Leftover =
  | { readonly kind: 'audio'; readonly id: string; readonly entry: SpoolEntry }
  | { readonly kind: 'request'; readonly id: string; readonly intent: OpenIntent };

/** What became of it. */
export interface Recovered {
  readonly id: string;
  /**
   * `recovered`: it is in `output` now; `lost`: paid for, and only a part of it is in `output`;
   * `unknown`: nobody can tell whether it was paid for; `running`: the command that began it still
   * works on it.
   */
  readonly outcome: 'recovered' | 'lost' | 'unknown' | 'running';
  readonly output: string | null;
  readonly creditsUsed: number | null;
  readonly requestId: string | null;
  /** With it the same command can be run again without paying twice. */
  readonly idempotencyKey: string | null;
  readonly problem: string | null;
}

/** What is left behind: audio in the spool, and requests without a known end. */
export function leftovers(
  entries: readonly SpoolEntry[],
  intents: readonly OpenIntent[],
): readonly Leftover[] {
  return [
    ...entries.map((entry) => ({ kind: 'audio', id: entry.id, entry }) as const),
    ...intents.map((intent) => ({ kind: 'request', id: intent.id, intent }) as const),
  ];
}

export interface RecoverDeps extends FileDeps {
  readonly spool: Spool;
  readonly journal: IntentJournal;
}

/**
 * Settles one leftover (contract, section 6, `foley recover`): whole audio gets its name, or one like
 * it where that is taken; of everything else it is told what is lost. Nothing is sent or paid for.
 * @throws Failure (output, state)
 */
export async function recover(leftover: Leftover, deps: RecoverDeps): Promise<Recovered> {
  return leftover.kind === 'audio'
    ? recoverAudio(leftover.entry, deps)
    : settleRequest(leftover.intent, deps);
}

async function recoverAudio(entry: SpoolEntry, deps: RecoverDeps): Promise<Recovered> {
  const { record } = entry;
  const told = {
    id: entry.id,
    creditsUsed: record?.creditsUsed ?? null,
    requestId: record?.requestId ?? null,
    idempotencyKey: null,
    problem: record?.problem ?? null,
  };
  if (record?.complete !== true) return { ...told, outcome: 'lost', output: entry.path };
  const wanted = record.output ?? downloadName(entry.id, record.extension);
  const output = await openOutput({ ...deps, path: wanted, existing: 'number' });
  try {
    const kept = await deps.files.open(entry.path, 'r');
    for await (const chunk of kept.createReadStream({ highWaterMark: 1 << 20 })) {
      await output.write(chunk);
    }
    const published = await output.publish();
    await deps.spool.remove(entry);
    return { ...told, outcome: 'recovered', output: published.path };
  } finally {
    await output.abandon();
  }
}

async function settleRequest(intent: OpenIntent, deps: RecoverDeps): Promise<Recovered> {
  const { about, facts, id, writer } = intent;
  const told = {
    id,
    output: null,
    creditsUsed: facts.creditsUsed ?? null,
    requestId: facts.requestId ?? about?.requestId ?? null,
    idempotencyKey: about?.idempotencyKey ?? null,
    problem: facts.problem ?? null,
  };
  if (writer === 'alive') return { ...told, outcome: 'running' };
  const left = about?.temporary ?? undefined;
  const isOurs = left !== undefined && isTemporaryName(path.basename(left));
  const kept = isOurs ? await adopt(left, intent, deps) : undefined;
  await deps.journal.resume(intent).settle(kept === undefined ? 'lost' : 'kept');
  return { ...told, outcome: kept === undefined ? 'unknown' : 'lost', output: kept ?? null };
}

/** The temporary file of a command that was killed; what is in it was paid for. */
async function adopt(
  temporary: string,
  { about, facts, id }: OpenIntent,
  { files, spool }: RecoverDeps,
): Promise<string | undefined> {
  const size = await files.stat(temporary).then(
    (stats) => stats.size,
    () => undefined,
  );
  if (size === undefined) return undefined;
  const writer = await spool.adopt(
    { path: temporary, bytes: size, rest: [] },
    {
      what: about?.what ?? 'speech',
      extension: 'part',
      output: about?.output ?? null,
      requestId: facts.requestId ?? null,
      creditsUsed: facts.creditsUsed ?? null,
      operation: id,
      problem: 'the command was killed',
    },
  );
  if (size === 0) {
    await writer.discard();
    return undefined;
  }
  await writer.keep({ complete: false });
  return writer.path;
}
