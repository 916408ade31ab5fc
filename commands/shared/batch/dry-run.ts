import path from 'node:path';
import { readBatchFolder } from '../../../src/batch/journal/batch-folder.ts';
import { itemBodies } from '../../../src/batch/run/aligned-speaker.ts';
import { AudioCopies } from '../../../src/batch/run/audio-copies.ts';
import { classifyItems, textsToBuy } from '../../../src/batch/run/classify.ts';
import type { ClassifiedItem } from '../../../src/batch/run/classify.ts';
import type { Context } from '../../../src/cli/command.ts';
import type { CommandResult } from '../../../src/cli/render/result.ts';
import { display, counted } from '../../../src/text/display.ts';
import { openReuse } from '../journal.ts';
import type { PreparedBatch } from './connect-batch.ts';
import {
  checkEstimate,
  connectBatch,
  createEstimator,
  isReusable,
  noticeUncaptioned,
  otherShardsOf,
  otherShardsText,
  overviewOf,
  sidecarsOf,
} from './connect-batch.ts';
import { writeEvent } from './events.ts';

type ShowItem = (
  item: ClassifiedItem,
  credits: number | undefined,
  isReused: boolean,
) => Promise<void>;

/** Shows what a batch would do (`--dry-run`), without writing or speaking anything. */
export async function describeBatch(
  context: Context,
  batch: PreparedBatch,
  show: ShowItem = (classified, _credits, isReused) =>
    showItem(classified, isReused, batch.rerun.outputDir, context),
): Promise<CommandResult> {
  const { captions, flags, redo, rerun } = batch;
  const { files } = context.system;
  const { globals, io } = context;
  const { state } = await context.paths();
  const copies = path.join(state, 'batches');
  const { copyFolder, index } = await readBatchFolder(
    rerun.outputDir,
    rerun.outputFlag,
    copies,
    files,
  );
  const connection = await connectBatch(context, batch);
  try {
    const { client, origin, voiceId } = connection;
    const classified = classifyItems(batch.items(voiceId), {
      system: context.system,
      rerun,
      index,
      copies: new AudioCopies(context.system, copyFolder, captions),
      origin,
      sidecars: sidecarsOf(captions),
      ...itemBodies(client, captions),
      redoToken: redo === undefined ? undefined : index.interruptedRedo(redo),
    });
    const estimator = await createEstimator(context, flags.creditRate, connection);
    const options = { captions, reuse: await openReuse(context, client, flags.reuse) };
    const shown = async function* (): AsyncGenerator<ClassifiedItem, void, undefined> {
      for await (const one of classified) {
        const isSpoken = one.decision.kind === 'speak';
        const isReused = isSpoken && isReusable(one, await textsToBuy(one, options));
        const credits = isReused ? 0 : await estimator.creditsOf(one.item);
        await show(one, isSpoken ? credits : undefined, isReused);
        yield one;
      }
    };
    const { uncaptioned, ...overview } = await overviewOf(shown(), estimator, options);
    noticeUncaptioned(uncaptioned, io);
    const { characters, estimatedCredits, failed, skipped, toFetch, toReuse, toSpeak } = overview;
    const otherShards = otherShardsOf(batch, overview);
    checkEstimate(estimatedCredits ?? undefined, flags.maxCredits);
    if (globals.json === true) await writeEvent(io, { event: 'plan', ...overview, otherShards });
    const cost =
      estimatedCredits === null
        ? 'cost unknown without --credit-rate'
        : `about ${counted(estimatedCredits, 'credit')}`;
    return {
      human: () =>
        `${toSpeak} to speak (${counted(characters, 'character')}, ${cost}), ${toFetch} to fetch, ${toReuse} to move or copy, ${skipped} done before, ${failed} failed before${otherShardsText(otherShards)}`,
    };
  } finally {
    await connection.close();
  }
}

async function showItem(
  { decision: { kind }, item }: ClassifiedItem,
  isReused: boolean,
  outputDir: string,
  { globals, io }: Context,
): Promise<void> {
  const { id, order, output, source } = item;
  const status = kind === 'share' || isReused ? 'reuse' : kind;
  const file = path.join(outputDir, output);
  if (globals.json === true) {
    const fields = { id, status, output: file, source, voiceId: order.voiceId } as const;
    await writeEvent(io, { event: 'item', ...fields });
  } else if (globals.quiet !== true) {
    await io.writeOut(`${display(`${status.padEnd(5)}  ${id}  ${file}`)}\n`);
  }
}
