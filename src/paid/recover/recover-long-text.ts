import path from 'node:path';
import { removeTemporary } from '../../durable/files.ts';
import { mayRun } from '../intents.ts';
import type { InterruptedText, LongTextRecord } from '../parts/record.ts';
import { readRecord, resumeRecord } from '../parts/record.ts';
import { costOf, speakLongText, totalsOf } from '../parts/speak-long-text.ts';
import { DISCARD } from '../speakers/speak-stream.ts';
import { leftOut } from '../unspoken.ts';
import type { Recovered, RecoverDeps } from './recovered.ts';
import { connectTo, detailsOf, hasChecksum, ifExists, openRecorded } from './recovered.ts';

/**
 * Resumes an interrupted long text: downloads billed parts, speaks missing parts, and saves the joined audio and the
 * captions. If a file with the intended name exists, adds a number to the name. A text whose audio went to stdout or a
 * player is not resumed; its outcome is `lost` (docs/billing.md).
 * @throws Failure if the text cannot be resumed, for example of kind `usage` if another service spoke it
 */
export async function recoverLongText(
  listed: InterruptedText,
  deps: RecoverDeps,
): Promise<Recovered> {
  const details = { ...detailsOf(costOf(listed)), id: listed.id };
  // Another process may have resumed or finished the text since it was listed.
  const left = await readRecord(listed.id, deps.texts);
  if (left === undefined) return { ...details, outcome: 'running' };
  const { id, plan, writer } = left;
  if (mayRun({ at: plan.at, writer }, deps.system.clock)) return { ...details, outcome: 'running' };
  for (const temporary of left.temporaries) await removeTemporary(deps.system, temporary);
  if (plan.delivery === 'stream') {
    // The streamed part was heard; the rest cannot be delivered.
    await (await resumeRecord(left, deps.texts)).remove();
    return { ...details, ...detailsOf(costOf(left)), outcome: 'lost' };
  }
  if (plan.output !== null && (await hasChecksum(plan.output, left.checksum, deps.system))) {
    const published = await resumeRecord(left, deps.texts);
    await published.remove();
    return { ...details, ...resultOf(published, plan.output), outcome: 'recovered' };
  }
  const client = await connectTo(plan, id, deps, id);
  const captions = await deps.openCaptions(plan);
  try {
    const record = await resumeRecord(left, deps.texts);
    await noteStreamedParts(record, deps);
    const marks = await record.marks();
    const output = await openRecorded(id, { ...plan, marks }, plan.format, deps);
    try {
      if (output.temporary !== undefined)
        await record.recordTemporary(path.resolve(output.temporary));
      const count = plan.parts.length;
      const onProgress = (done: number): void =>
        deps.onWait(`fetching part ${Math.min(done + 1, count)} of ${count}`);
      onProgress(0);
      const { path: file = output.path } = await speakLongText({
        ...deps,
        client,
        record,
        output,
        marks,
        stream: DISCARD,
        concurrency: await deps.concurrency(),
        hasOwnKey: false,
        spool: () => Promise.resolve(deps.spool),
        onAligned: async (text, speech) => captions?.prepare(text, speech),
        onProgress,
      });
      const isTimed = (await captions?.publish(file))?.complete !== false;
      const problem = problemOf(record) ?? (isTimed ? null : UNTIMED);
      const outcome = problem === null ? 'recovered' : 'partial';
      return { ...details, ...resultOf(record, file), outcome, problem };
    } finally {
      // No effect after publication.
      await output.abandon();
    }
  } finally {
    await captions?.abandon();
  }
}

const UNTIMED = 'the service did not time all of its text';

function problemOf(record: LongTextRecord): string | undefined {
  const { partial, unspoken } = totalsOf(record);
  if (partial.length > 0) return `some of part ${partial.join(', ')} could not be spoken`;
  return unspoken.length > 0 ? leftOut(unspoken) : undefined;
}

function resultOf(record: LongTextRecord, output: string) {
  const { creditsUsed, requestId } = totalsOf(record);
  return { creditsUsed: creditsUsed ?? null, requestId, output };
}

// The file of a streamed part is complete when it exists. A killed command may not have recorded it, and the service does
// not send its audio again.
async function noteStreamedParts(
  record: LongTextRecord,
  { system: { files } }: RecoverDeps,
): Promise<void> {
  if (record.plan.via === 'job') return;
  for (const index of record.plan.parts.keys()) {
    const found = await ifExists(record.partFile(index), files.stat(record.partFile(index)));
    if (found === undefined || record.part(index).state === 'verified') continue;
    await record.note({ part: index, state: 'verified', bytes: found.size });
  }
}
