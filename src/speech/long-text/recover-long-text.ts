import path from 'node:path';
import type { ApiClient } from '../../api/client.ts';
import { extensionOf } from '../../audio/formats.ts';
import type { Clock } from '../../effects/clock.ts';
import { Failure } from '../../errors/failure.ts';
import { removeQuietly, isTemporaryName } from '../../durable/files.ts';
import { checksumOf, kindOf } from '../../durable/checksum.ts';
import { downloadName } from '../../durable/names.ts';
import { openOutput } from '../../durable/publish.ts';
import { mayRun, ifExists } from '../recover.ts';
import type { Recovered } from '../recover.ts';
import { NOWHERE } from '../speak.ts';
import type { LongTextRecord, RecordOptions, InterruptedText } from './record.ts';
import { resumeRecord, readRecord } from './record.ts';
import type { LongTextOptions } from './speak-long-text.ts';
import { speakLongText, costOf, totalsOf } from './speak-long-text.ts';

export interface LongTextRecovery
  extends
    Omit<
      LongTextOptions,
      'client' | 'hasOwnKey' | 'output' | 'processes' | 'record' | 'requestId' | 'stream'
    >,
    RecordOptions {
  readonly clock: Clock;
  /** The service that is asked now; connected to only when something has to be asked. */
  readonly connect: () => Promise<ApiClient>;
}

/**
 * Goes on with a long text that a command left: what is paid for is fetched, only what is missing is
 * spoken, and the whole gets the name that it was meant to have, or one like it where that is taken. What
 * went into a stream is told as lost as far as it was paid for and not heard (docs/billing.md).
 * @throws Failure after which it is still there; (usage) when it was begun with another service
 */
export async function recoverLongText(
  listed: InterruptedText,
  deps: LongTextRecovery,
): Promise<Recovered> {
  const told = toldOf(listed);
  // Since it was listed somebody else may have begun to go on with it, or have come to its end.
  const left = await readRecord(listed.id, deps);
  if (left === undefined) return { ...told, outcome: 'running' };
  const { id, plan, writer } = left;
  if (mayRun({ at: plan.at, writer }, deps.clock)) return { ...told, outcome: 'running' };
  await removeTemporaries(left, deps);
  if (plan.delivery === 'stream') return givenUp(left, deps);
  if (plan.output !== null && (await hasItsName(left, plan.output, deps))) {
    return published(left, deps, plan.output);
  }
  const client = await deps.connect();
  refuseOtherService(left, client);
  const record = await resumeRecord(left, deps);
  if (left.isDamaged) await noteStreamedParts(record, deps);
  const wanted = plan.output ?? downloadName(id, extensionOf(plan.format));
  const output = await openOutput({ ...deps, path: wanted, existing: 'number' });
  try {
    if (output.temporary !== undefined) await record.growsIn(path.resolve(output.temporary));
    const spoken = await speakLongText({
      ...deps,
      client,
      record,
      output,
      stream: NOWHERE,
      hasOwnKey: false,
      buysLost: true,
    });
    const { creditsUsed, partial, requestId } = totalsOf(record);
    const made = { creditsUsed: creditsUsed ?? null, requestId, output: spoken.path ?? wanted };
    if (partial.length === 0) return { ...told, ...made, outcome: 'recovered' };
    const problem = `some of part ${partial.join(', ')} could not be spoken`;
    return { ...told, ...made, outcome: 'partial', problem };
  } finally {
    // After it was published this does nothing.
    await output.abandon();
  }
}

/** What an interrupted long text cost so far. */
function toldOf(left: InterruptedText): Omit<Recovered, 'outcome'> {
  return {
    id: left.id,
    output: null,
    creditsUsed: costOf(left).creditsUsed,
    requestId: null,
    jobId: null,
    idempotencyKey: null,
    problem: null,
  };
}

/** The folder goes: what was in the stream was heard, and the rest does not come back. */
async function givenUp(left: InterruptedText, deps: LongTextRecovery): Promise<Recovered> {
  const record = await resumeRecord(left, deps);
  await record.remove();
  return { ...toldOf(left), outcome: 'lost' };
}

/** Whether the file with its name is the whole that was made. */
async function hasItsName(
  { checksum }: InterruptedText,
  output: string,
  { files }: LongTextRecovery,
): Promise<boolean> {
  if (checksum === undefined) return false;
  return (await ifExists(output, checksumOf(output, kindOf(checksum), files))) === checksum;
}

async function published(
  left: InterruptedText,
  deps: LongTextRecovery,
  output: string,
): Promise<Recovered> {
  const record = await resumeRecord(left, deps);
  const { creditsUsed, requestId } = totalsOf(record);
  await record.remove();
  const made = { creditsUsed: creditsUsed ?? null, requestId, output };
  return { ...toldOf(left), ...made, outcome: 'recovered' };
}

/**
 * Parts that are streams get their name when they are whole and are not sent a second time: after a damaged
 * journal their files count. Those of jobs are fetched again under their keys.
 */
async function noteStreamedParts(
  record: LongTextRecord,
  { files }: LongTextRecovery,
): Promise<void> {
  if (record.plan.via === 'job') return;
  for (const index of record.plan.parts.keys()) {
    const found = await ifExists(record.partFile(index), files.stat(record.partFile(index)));
    if (found === undefined || record.part(index).state === 'done') continue;
    await record.note({ part: index, state: 'done', bytes: found.size });
  }
}

async function removeTemporaries(
  { temporaries }: InterruptedText,
  deps: LongTextRecovery,
): Promise<void> {
  for (const temporary of temporaries) {
    if (isTemporaryName(path.basename(temporary))) await removeQuietly(temporary, deps);
  }
}

/** Each service knows its own keys and jobs only; the embedded one has another port each time. */
function refuseOtherService({ id, plan }: InterruptedText, { address }: ApiClient): void {
  const isSame =
    plan.target === address.kind &&
    (plan.target === 'embedded' || plan.origin === address.baseUrl.origin);
  if (isSame) return;
  const isEmbedded = plan.target === 'embedded';
  const where = isEmbedded ? 'the embedded service' : plan.origin;
  throw new Failure(`${id} was begun with ${where}, and that is not the service that is asked`, {
    code: 'usage',
    exit: 'usage',
    hint: `Run \`foley recover ${id} ${isEmbedded ? '--local' : `--base-url ${plan.origin}`}\`.`,
    billed: 'unknown',
  });
}
