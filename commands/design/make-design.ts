import type { DesignOptions, DesignOrder, VoiceDesign } from '../../src/api/voice-designs.ts';
import { designRequest } from '../../src/api/voice-designs.ts';
import type { Connection, Context } from '../../src/cli/context.ts';
import { startProgress } from '../../src/cli/progress.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import type { PlaceFor } from '../../src/jobs/fetch-job.ts';
import type { CandidatePreview } from '../../src/voices/candidate-previews.ts';
import { savePreviews } from '../../src/voices/candidate-previews.ts';
import { designVoice } from '../../src/voices/design-voice.ts';
import { folderPlace } from '../jobs/places.ts';
import { openJournal } from '../open-journal.ts';
import type { IdFlags } from '../request-flags.ts';
import { dryRunResult } from '../tts-words.ts';
import type { DesignCreateFlags } from './create.ts';
import { candidateColumns, candidateRows, designDocument, designNotices } from './design-words.ts';

/** The request that would be sent (`--dry-run`). */
export async function describeDesign(
  context: Context,
  order: DesignOrder,
  flags: IdFlags,
): Promise<CommandResult> {
  const { client } = await context.connect();
  return dryRunResult(client.describe(designRequest(order, designOptions(context, flags))));
}

/** Has the candidates made, and fetches their previews where a folder is named for them. */
export async function makeDesign(
  context: Context,
  order: DesignOrder,
  { outputDir, ...flags }: DesignCreateFlags,
): Promise<CommandResult> {
  const { io } = context;
  const placeFor =
    outputDir === undefined ? undefined : await folderPlace(context, outputDir, FOLDER);
  const connection = await context.connect();
  const design = await make(context, order, { connection, options: designOptions(context, flags) });
  for (const line of designNotices(design)) io.notice(line);
  const previews =
    placeFor === undefined
      ? undefined
      : await fetchPreviews(context, design, { connection, placeFor });
  const told = { design, previews };
  const rows = candidateRows(told);
  const { table } = await import('../../src/cli/table.ts');
  return {
    data: designDocument(told, connection.target),
    human: (look) => table(rows, candidateColumns(rows), look),
    exit: previews?.some(({ failure }) => failure !== undefined) === true ? 'partial' : 'ok',
  };
}

/** Both requests of a design need a key (spec section 4.6). */
export function designOptions(
  { random, signal }: Context,
  { idempotencyKey, requestId }: IdFlags,
): DesignOptions {
  const value = idempotencyKey ?? random.uuid();
  const madeByTool = idempotencyKey === undefined;
  return { idempotencyKey: { value, madeByTool }, requestId, signal };
}

const FOLDER = {
  flag: '--output-dir',
  why: 'previews need a folder',
  hint: 'Name a folder, or leave it out.',
};

async function make(
  context: Context,
  order: DesignOrder,
  { connection: { client }, options }: { connection: Connection; options: DesignOptions },
): Promise<VoiceDesign> {
  const { clock, io } = context;
  const { journal } = await openJournal(context);
  const progress = startProgress(io, clock, 'making candidates');
  const notice = (line: string): void => {
    progress.stop();
    io.notice(line);
  };
  try {
    return await designVoice(order, { client, journal, options, notice });
  } finally {
    progress.stop();
    await journal.close();
  }
}

/** The design is paid for, and there: what goes wrong now takes nothing away. */
async function fetchPreviews(
  { clock, io, signal }: Context,
  { candidates, designId }: VoiceDesign,
  { connection, placeFor }: { connection: Connection; placeFor: PlaceFor },
): Promise<readonly CandidatePreview[]> {
  const progress = startProgress(io, clock, 'fetching the previews');
  const refs = candidates.map((candidate) => ({ ...candidate, designId }));
  const previews = await savePreviews(refs, { ...connection, placeFor, signal }).finally(() =>
    progress.stop(),
  );
  for (const { candidateId, failure } of previews) {
    if (failure === undefined) continue;
    const again = `foley design preview ${designId} ${candidateId}`;
    io.warn(`foley: the preview of ${candidateId}: ${failure.message}; \`${again}\` fetches it`);
  }
  return previews;
}
