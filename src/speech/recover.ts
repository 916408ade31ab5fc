import path from 'node:path';
import { removeQuietly } from '../files/debris.ts';
import { Failure } from '../errors/failure.ts';
import type { FileDeps } from '../files/file-deps.ts';
import type { IntentJournal, OpenIntent } from '../files/intents.ts';
import type { Spool, SpoolEntry } from '../files/spool.ts';
import { stateFailure } from '../files/state-failures.ts';
import { isTemporaryName } from '../files/temporary.ts';
import type { DamagedRecord, Leftover, Recovered } from './leftovers.ts';
import { mayRun } from './leftovers.ts';
import type { RecoverDeps } from './recover-audio.ts';
import { isVerified, orNothing, recoverAudio } from './recover-audio.ts';

/** What came of settling all that was left. */
export interface Recovery {
  readonly items: readonly Recovered[];
  /** Why some of it could not be settled. */
  readonly failures: readonly Failure[];
}

/**
 * Settles one leftover after the other (contract, section 6, `foley recover`; docs/billing.md): whole
 * audio gets its name, or one like it where that is taken; the audio of jobs is fetched; a text in parts
 * is spoken to its end; of everything else it is told what is lost. One that cannot be settled keeps none
 * of the others from it. Nothing is paid for but the missing parts of a text.
 * @param signal ends it early; what was settled until then is given nevertheless
 */
export async function recoverAll(
  leftovers: readonly Leftover[],
  deps: RecoverDeps,
  signal?: AbortSignal,
): Promise<Recovery> {
  const items: Recovered[] = [];
  const failures: Failure[] = [];
  const isStopped = (): boolean => signal?.aborted === true;
  for (const leftover of leftovers) {
    if (isStopped()) break;
    try {
      items.push(await recover(leftover, deps));
    } catch (error) {
      if (isStopped()) break;
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
      items.push(failed(leftover, error));
    }
  }
  return { items, failures };
}

/** @throws Failure (output, state) */
async function recover(leftover: Leftover, deps: RecoverDeps): Promise<Recovered> {
  switch (leftover.kind) {
    case 'audio':
      return recoverAudio(leftover.entry, leftover.intent, deps);
    case 'request':
      return recoverRequest(leftover.intent, deps);
    case 'text':
      return deps.recoverText(leftover.left);
    case 'damaged':
      return damaged(leftover);
  }
}

export interface ForgetDeps extends FileDeps {
  readonly spool: Spool;
  readonly journal: IntentJournal;
  /** The folder of all long texts. */
  readonly textFolder: string;
}

/**
 * Removes what is left of one thing, recovered or not, so that nothing is said about it any more.
 * @throws Failure (state) when a command still works on it, or when it cannot be removed
 */
export async function forget(leftover: Leftover, deps: ForgetDeps): Promise<void> {
  switch (leftover.kind) {
    case 'audio':
      if (leftover.intent !== undefined) await abandon(leftover.intent, deps);
      return deps.spool.remove(leftover.entry);
    case 'request':
      return abandon(leftover.intent, deps);
    case 'text': {
      const { id, plan, temporaries, writer } = leftover.left;
      if (mayRun({ at: plan.at, writer }, deps.clock)) throw stillRunning(id);
      for (const temporary of temporaries) await removeTemporary(temporary, deps);
      return removeAll([path.join(deps.textFolder, path.basename(id))], deps);
    }
    case 'damaged':
      if (leftover.isInUse === true) throw stillNeeded(leftover);
      return removeAll(leftover.paths, deps);
  }
}

async function abandon(intent: OpenIntent, deps: ForgetDeps): Promise<void> {
  if (mayRun(intent, deps.clock)) throw stillRunning(intent.id);
  await removeTemporary(intent.about?.temporary ?? '', deps);
  await deps.journal.resume(intent).settle('abandoned');
}

async function removeTemporary(file: string, deps: ForgetDeps): Promise<void> {
  if (isTemporaryName(path.basename(file))) await removeQuietly(file, deps);
}

async function removeAll(paths: readonly string[], { files }: ForgetDeps): Promise<void> {
  for (const file of paths) {
    await files.rm(file, { recursive: true, force: true }).catch((error: unknown) => {
      throw stateFailure('what was left', file, error);
    });
  }
}

function stillRunning(id: string): Failure {
  return new Failure(`a command still works on ${id}`, {
    code: 'state',
    exit: 'state',
    hint: 'Wait until it has ended, or stop it.',
  });
}

function stillNeeded({ id, paths: [file] }: DamagedRecord): Failure {
  return new Failure(`${file} names operations that are still open`, {
    code: 'state',
    exit: 'state',
    hint: `Run \`foley recover\`, then \`foley recover --forget ${id}\`.`,
  });
}

function damaged({ holds, id, paths: [where] }: DamagedRecord): Recovered {
  return {
    id,
    outcome: 'damaged',
    output: null,
    creditsUsed: null,
    requestId: null,
    jobId: null,
    idempotencyKey: null,
    problem: `${where} cannot be read; it holds ${holds}`,
  };
}

function failed(leftover: Leftover, { hint, message }: Failure): Recovered {
  const record = leftover.kind === 'audio' ? leftover.entry.record : undefined;
  const facts =
    leftover.kind === 'text' || leftover.kind === 'damaged' ? undefined : leftover.intent?.facts;
  return {
    id: leftover.id,
    outcome: 'failed',
    output: null,
    creditsUsed: record?.creditsUsed ?? facts?.creditsUsed ?? null,
    requestId: record?.requestId ?? facts?.requestId ?? null,
    jobId: facts?.jobId ?? null,
    idempotencyKey: null,
    problem: hint === undefined ? message : `${message}; ${hint}`,
  };
}

async function recoverRequest(intent: OpenIntent, deps: RecoverDeps): Promise<Recovered> {
  const { about, facts, id } = intent;
  const told = {
    id,
    output: null,
    creditsUsed: facts.creditsUsed ?? null,
    requestId: facts.requestId ?? about?.requestId ?? null,
    jobId: facts.jobId ?? null,
    idempotencyKey: about?.idempotencyKey ?? null,
    ...(about?.endpoint.endsWith('/tts/live') === true ? { isRealtime: true as const } : {}),
    problem: facts.problem ?? whereToLook(intent),
  };
  if (mayRun(intent, deps.clock)) return { ...told, outcome: 'running' };
  const entry = await adopt(intent, deps);
  if (entry !== undefined) return { ...(await recoverAudio(entry, intent, deps)), id };
  const output = about?.output ?? null;
  if (output !== null && (await isVerified(output, intent, deps))) {
    await deps.journal.resume(intent).settle('published');
    return { ...told, outcome: 'recovered', output };
  }
  if (facts.jobId !== undefined) return deps.recoverJob(intent, facts.jobId);
  await deps.journal.resume(intent).settle('lost');
  // Once an answer has begun it was charged; before that nobody can tell.
  const isUnknown = intent.state === 'intent' || intent.state === 'sent';
  return { ...told, outcome: isUnknown ? 'unknown' : 'lost' };
}

/** What has no key can be found out about in one place only. */
function whereToLook({ about }: OpenIntent): string | null {
  if (about === undefined || about.idempotencyKey !== null) return null;
  return WHERE_TO_LOOK.get(about.what) ?? null;
}

const WHERE_TO_LOOK: ReadonlyMap<string, string> = new Map([
  ['voice', '`foley voices list --type personal` shows whether the voice was made'],
  ['lipsync', '`foley lipsync list` shows whether the job was created'],
]);

/** Brings into the spool what a command that was killed had in its temporary file, if anything. */
async function adopt(intent: OpenIntent, deps: RecoverDeps): Promise<SpoolEntry | undefined> {
  const { about, facts, id } = intent;
  const temporary = about?.temporary ?? '';
  if (!isTemporaryName(path.basename(temporary))) return undefined;
  const found = await orNothing(temporary, deps.files.stat(temporary));
  if (found === undefined) return undefined;
  const { size } = found;
  const complete = await isVerified(temporary, intent, deps);
  // A part of what a job made is worth nothing: all of it is there to be fetched.
  if (size === 0 || (facts.jobId !== undefined && !complete)) {
    await removeQuietly(temporary, deps);
    return undefined;
  }
  const writer = await deps.spool.adopt(
    { path: temporary, bytes: size, rest: [] },
    {
      what: about?.what ?? 'speech',
      extension: path.extname(about?.output ?? '').slice(1) || 'part',
      output: about?.output ?? null,
      requestId: facts.requestId ?? null,
      creditsUsed: facts.creditsUsed ?? null,
      operation: id,
      problem: 'the command was killed',
    },
  );
  await writer.keep({ complete });
  const entries = await deps.spool.list();
  return entries.find((entry) => entry.id === writer.id);
}
