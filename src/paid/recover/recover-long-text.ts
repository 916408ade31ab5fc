import path from 'node:path';
import type { ApiClient } from '../../api/client.ts';
import { extensionOf } from '../../audio/formats.ts';
import { removeTemporary } from '../../durable/files.ts';
import { downloadName } from '../../durable/names.ts';
import { openSpeechOutput } from '../../audio/encode/encoded-output.ts';
import { detailsOf, hasChecksum, ifExists, mayRun, requireSameService } from './recover.ts';
import type { Recovered } from './recover.ts';
import { DISCARD } from '../speakers/speak-stream.ts';
import { leftOut } from '../unspoken.ts';
import type { LongTextRecord, RecordOptions, InterruptedText } from '../parts/record.ts';
import { resumeRecord, readRecord } from '../parts/record.ts';
import type { LongTextOptions } from '../parts/speak-long-text.ts';
import { speakLongText, costOf, totalsOf } from '../parts/speak-long-text.ts';

export interface LongTextRecovery
  extends
    Omit<
      LongTextOptions,
      | 'buysLost'
      | 'client'
      | 'hasOwnKey'
      | 'marks'
      | 'output'
      | 'processes'
      | 'record'
      | 'requestId'
      | 'stream'
    >,
    RecordOptions {
  /** True to speak lost parts again, at a second charge. */
  readonly buysLost: boolean;
  /** Connects to the service; called only if the recovery needs a request. */
  readonly connect: () => Promise<ApiClient>;
}

/**
 * Resumes an interrupted long text: downloads billed parts, speaks missing parts, and saves the joined audio. If a
 * file with the intended name exists, adds a number to the name. A text whose audio went to stdout or a player is not
 * resumed; its outcome is `lost` (docs/billing.md).
 * @throws Failure if the text cannot be resumed, for example of kind `usage` if another service spoke it
 */
export async function recoverLongText(
  listed: InterruptedText,
  deps: LongTextRecovery,
): Promise<Recovered> {
  const details = detailsOfText(listed);
  // Another process may have resumed or finished the text since it was listed.
  const left = await readRecord(listed.id, deps);
  if (left === undefined) return { ...details, outcome: 'running' };
  const { id, plan, writer } = left;
  if (mayRun({ at: plan.at, writer }, deps.clock)) return { ...details, outcome: 'running' };
  for (const temporary of left.temporaries) await removeTemporary(temporary, deps);
  if (plan.delivery === 'stream') {
    // The streamed part was heard; the rest cannot be delivered.
    await (await resumeRecord(left, deps)).remove();
    return { ...detailsOfText(left), outcome: 'lost' };
  }
  if (plan.output !== null && (await hasChecksum(plan.output, left.checksum, deps))) {
    const published = await resumeRecord(left, deps);
    await published.remove();
    return { ...details, ...resultOf(published, plan.output), outcome: 'recovered' };
  }
  const client = await deps.connect();
  requireSameService(plan, id, client, id);
  const record = await resumeRecord(left, deps);
  await noteStreamedParts(record, deps);
  const marks = await record.marks();
  const wanted = plan.output ?? downloadName(id, extensionOf(plan.format));
  const { changes } = plan;
  const output = await openSpeechOutput(
    { ...deps, changes, marks, path: wanted, existing: 'number', warn: deps.notice },
    plan.format,
  );
  try {
    if (output.temporary !== undefined)
      await record.recordTemporary(path.resolve(output.temporary));
    const spoken = await speakLongText({
      ...deps,
      client,
      record,
      output,
      marks,
      stream: DISCARD,
      hasOwnKey: false,
    });
    const result = { ...details, ...resultOf(record, spoken.path ?? wanted) };
    const { partial, unspoken } = totalsOf(record);
    if (partial.length === 0 && unspoken.length === 0) return { ...result, outcome: 'recovered' };
    const problem =
      partial.length === 0
        ? leftOut(unspoken)
        : `some of part ${partial.join(', ')} could not be spoken`;
    return { ...result, outcome: 'partial', problem };
  } finally {
    // No effect after publication.
    await output.abandon();
  }
}

function resultOf(record: LongTextRecord, output: string) {
  const { creditsUsed, requestId } = totalsOf(record);
  return { creditsUsed: creditsUsed ?? null, requestId, output };
}

function detailsOfText(left: InterruptedText): Omit<Recovered, 'outcome'> {
  return { ...detailsOf(costOf(left)), id: left.id };
}

// The file of a streamed part is complete when it exists. A killed command may not have recorded it, and the service does
// not send its audio again.
async function noteStreamedParts(
  record: LongTextRecord,
  { files }: LongTextRecovery,
): Promise<void> {
  if (record.plan.via === 'job') return;
  for (const index of record.plan.parts.keys()) {
    const found = await ifExists(record.partFile(index), files.stat(record.partFile(index)));
    if (found === undefined || record.part(index).state === 'verified') continue;
    await record.note({ part: index, state: 'verified', bytes: found.size });
  }
}
