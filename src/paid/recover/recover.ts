import { basename, extname } from 'node:path';
import { removeQuietly, isTemporaryName } from '../../durable/files.ts';
import { downloadName } from '../../durable/names.ts';
import { isWavFile } from '../../audio/wav-stream.ts';
import type { SpoolEntry } from '../../durable/spool.ts';
import { Failure } from '../../errors/failure.ts';
import { nextStep } from '../decide.ts';
import type { OpenIntent } from '../intents.ts';
import { mayRun } from '../intents.ts';
import type { InterruptedText } from '../parts/record.ts';
import type { Outcome } from '../purchase.ts';
import { recoverJob } from './recover-job.ts';
import { recoverLongText } from './recover-long-text.ts';
import { repeatRequest } from './repeat-request.ts';
import type { Leftover } from './leftovers.ts';
import type { Recovered, RecoverDeps } from './recovered.ts';
import { detailsOf, hasChecksum, ifExists, openRecorded, requestDetails } from './recovered.ts';

/**
 * Recovers the results of interrupted commands (docs/billing.md). If one recovery fails, continues with the next. Sends
 * unfinished requests again under their idempotency keys, so that each is billed at most once. Speaks the missing parts
 * of long texts, which are billed. If `deps.signal` is aborted, returns the results so far.
 * @returns the results, and the failures that prevented the recovery of some results
 */
export async function recoverAll(
  found: readonly Leftover[],
  deps: RecoverDeps,
): Promise<{ readonly items: readonly Recovered[]; readonly failures: readonly Failure[] }> {
  const items: Recovered[] = [];
  const failures: Failure[] = [];
  for (const leftover of found) {
    if (deps.signal.aborted) break;
    try {
      const recovered = await recover(leftover, deps);
      if (!isLeftToText(leftover, recovered, found)) items.push(recovered);
    } catch (error) {
      if (deps.signal.aborted) break;
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
      items.push(failed(leftover, error));
    }
  }
  return { items, failures };
}

// The long text, which follows, requests such a part again: a refunded one with a new key, an unknown one with the same.
function isLeftToText(
  leftover: Leftover,
  { outcome }: Recovered,
  found: readonly Leftover[],
): boolean {
  const about = leftover.kind === 'request' ? leftover.intent.about : undefined;
  if (about?.isPart !== true) return false;
  const { idempotencyKey } = about;
  if (outcome !== 'unknown' || idempotencyKey === null) return outcome === 'refunded';
  return found.some((one) => one.kind === 'text' && hasKey(one.left, idempotencyKey));
}

function hasKey({ plan, states }: InterruptedText, wanted: string): boolean {
  return plan.parts.some(({ key }, index) => (states.get(index)?.key ?? key) === wanted);
}

function failed(leftover: Leftover, { hint, message }: Failure): Recovered {
  const record = leftover.kind === 'audio' ? leftover.entry.record : undefined;
  const facts = 'intent' in leftover ? leftover.intent?.facts : undefined;
  return {
    ...detailsOf(facts ?? {}, record),
    id: leftover.id,
    outcome: 'failed',
    problem: hint === undefined ? message : `${message}; ${hint}`,
  };
}

async function recover(leftover: Leftover, deps: RecoverDeps): Promise<Recovered> {
  switch (leftover.kind) {
    case 'audio':
      return recoverAudio(leftover.entry, leftover.intent, deps);
    case 'request':
      return recoverRequest(leftover.intent, deps);
    case 'text':
      return recoverLongText(leftover.left, deps);
    case 'damaged': {
      const { holds, id, paths } = leftover;
      const problem = `cannot read ${paths[0]}, which holds ${holds}`;
      return { ...detailsOf({}), id, outcome: 'damaged', problem };
    }
  }
}

// Gets the audio from where it is: in the temporary file or the output file, or on the service, which makes it as a job or
// returns it for the same key.
async function recoverRequest(intent: OpenIntent, deps: RecoverDeps): Promise<Recovered> {
  const { about, facts, id, state } = intent;
  const details = {
    ...requestDetails(intent),
    ...(about?.endpoint.endsWith('/tts/live') === true ? { isRealtime: true as const } : {}),
    problem: facts.problem ?? whereToLook(intent),
  };
  if (mayRun(intent, deps.system.clock)) return { ...details, outcome: 'running' };
  const { jobId } = facts;
  // Audio stored on the service is complete; a temporary file may be incomplete.
  const isBegun = state === 'accepted' && jobId === undefined;
  const stored = isBegun ? await repeatRequest(intent, deps) : undefined;
  if (stored !== undefined) return stored;
  const entry = await adopt(intent, deps);
  if (entry !== undefined) return { ...(await recoverAudio(entry, intent, deps)), id };
  const output = about?.output ?? null;
  const isPresent = output !== null && (await hasChecksum(output, facts.checksum, deps.system));
  const next = nextStep({ state, jobId, isPresent });
  if (next === 'use') {
    await deps.journal.resume(intent).markAs('published');
    return { ...details, outcome: 'recovered', output };
  }
  if (next === 'fetch' && jobId !== undefined) return recoverJob(intent, jobId, deps);
  const found = next === 'send' ? await repeatRequest(intent, deps) : undefined;
  if (found !== undefined) return found;
  await deps.journal.resume(intent).markAs('lost');
  // A request is charged when its response begins; before that the outcome is unknown.
  return { ...details, outcome: next === 'send' ? 'unknown' : 'lost' };
}

function whereToLook({ about }: OpenIntent): string | null {
  if (about === undefined || about.idempotencyKey !== null) return null;
  return WHERE_TO_LOOK.get(about.what) ?? null;
}

const WHERE_TO_LOOK: ReadonlyMap<string, string> = new Map([
  ['voice', '`foley voices list --type personal` shows whether the voice was made'],
  ['lipsync', '`foley lipsync list` shows whether the job was created'],
]);

async function adopt(intent: OpenIntent, deps: RecoverDeps): Promise<SpoolEntry | undefined> {
  const { about, facts, id } = intent;
  const temporary = about?.temporary ?? '';
  if (!isTemporaryName(basename(temporary))) return undefined;
  const found = await ifExists(temporary, deps.system.files.stat(temporary));
  if (found === undefined) return undefined;
  const { size } = found;
  const complete = await hasChecksum(temporary, facts.checksum, deps.system);
  // The complete result of a job can be downloaded.
  if (size === 0 || (facts.jobId !== undefined && !complete)) {
    await removeQuietly(deps.system, temporary);
    return undefined;
  }
  const writer = await deps.spool.adopt(
    { path: temporary, bytes: size, rest: [] },
    {
      what: about?.what ?? 'speech',
      // An output that foley encodes is saved as the service sends it.
      extension: (await isWavFile(temporary, deps.system.files))
        ? 'wav'
        : extname(about?.output ?? '').slice(1) || 'part',
      output: about?.output ?? null,
      requestId: facts.requestId ?? null,
      creditsUsed: facts.creditsUsed ?? null,
      operation: id,
      problem: 'the command was killed',
      changes: about?.changes,
    },
  );
  await writer.keep({ complete });
  const entries = await deps.spool.list();
  return entries.find((entry) => entry.id === writer.id);
}

async function recoverAudio(
  entry: SpoolEntry,
  intent: OpenIntent | undefined,
  deps: RecoverDeps,
): Promise<Recovered> {
  const { record } = entry;
  const details = {
    ...detailsOf(intent?.facts ?? {}, record),
    id: entry.id,
    problem: record?.problem ?? null,
  };
  const settle = async (outcome: Outcome): Promise<void> => {
    if (intent === undefined) return;
    await deps.journal.resume(intent).markAs(outcome, { spoolId: entry.id });
  };
  if (intent !== undefined && mayRun(intent, deps.system.clock)) {
    return { ...details, outcome: 'running', output: entry.path };
  }
  const isWhole =
    record?.complete === true ||
    (await hasChecksum(entry.path, intent?.facts.checksum, deps.system));
  if (!isWhole) {
    await settle('spooled');
    const lost = { ...details, outcome: 'lost', output: entry.path } as const;
    if (record?.reported === true) return { ...lost, isReported: true };
    await deps.spool.markReported(entry);
    return lost;
  }
  const extension = record?.extension ?? extname(entry.path).slice(1);
  const known = record?.output ?? intent?.about?.output ?? undefined;
  const output = await publishCopy(entry, known ?? downloadName(entry.id, extension), deps);
  await deps.spool.remove(entry);
  await settle('published');
  return { ...details, outcome: 'recovered', output };
}

async function publishCopy(
  { id, path, record }: SpoolEntry,
  wanted: string,
  deps: RecoverDeps,
): Promise<string> {
  const made = (await isWavFile(path, deps.system.files)) ? 'wav' : 'mp3';
  const changes = made === 'wav' ? record?.changes : undefined;
  const output = await openRecorded(id, { changes, output: wanted }, made, deps);
  try {
    const kept = await deps.system.files.open(path, 'r');
    for await (const chunk of kept.createReadStream({ highWaterMark: 1 << 20 })) {
      await output.write(chunk);
    }
    return (await output.publish()).path;
  } finally {
    await output.abandon();
  }
}
