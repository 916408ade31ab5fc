import path from 'node:path';
import { speechJobBody } from '../../src/api/resources/jobs.ts';
import { readBatchFolder } from '../../src/batch/journal/batch-folder.ts';
import { alignedBody } from '../../src/batch/run/aligned-speaker.ts';
import { classifyItems } from '../../src/batch/run/classify.ts';
import type { ClassifiedItem } from '../../src/batch/run/classify.ts';
import type { Context } from '../../src/cli/command.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { display, toJson, counted } from '../../src/text/display.ts';
import { checkEstimate, connectBatch, createEstimator, overviewOf } from './connect-batch.ts';
import type { PreparedBatch } from './prepare.ts';

/** Shows what a batch would do (`--dry-run`), without writing or speaking anything. */
export async function describeBatch(
  context: Context,
  { captions, flags, redo, rerun, sidecars, ...batch }: PreparedBatch,
): Promise<CommandResult> {
  const { files, globals, io } = context;
  const { outputDir } = rerun;
  const index = await readBatchFolder(outputDir, files);
  const connection = await connectBatch(context, { flags, needsVoice: batch.needsVoice });
  try {
    const { client, origin, voiceId } = connection;
    const classified = classifyItems(batch.items(voiceId), {
      ...rerun,
      files,
      index,
      origin,
      sidecars,
      bodyOf: (order) =>
        captions === undefined ? speechJobBody(order).bytes : alignedBody(client, order),
      redoToken: redo === undefined ? undefined : index.interruptedRedo(redo),
    });
    const estimator = await createEstimator(context, flags.creditRate, connection);
    const overview = await overviewOf(listed(classified, context, outputDir), estimator);
    const { characters, estimatedCredits, failed, skipped, toFetch, toReuse, toSpeak } = overview;
    checkEstimate(estimatedCredits ?? undefined, flags.maxCredits);
    if (globals.json === true) await io.writeOut(`${toJson({ event: 'plan', ...overview })}\n`);
    const cost =
      estimatedCredits === null
        ? 'cost unknown without --credit-rate'
        : `about ${counted(estimatedCredits, 'credit')}`;
    return {
      human: () =>
        `${toSpeak} to speak (${counted(characters, 'character')}, ${cost}), ${toFetch} to fetch, ${toReuse} to move or copy, ${skipped} done before, ${failed} failed before`,
    };
  } finally {
    await connection.close();
  }
}

async function* listed(
  items: AsyncIterable<ClassifiedItem>,
  { globals, io }: Context,
  outputDir: string,
): AsyncGenerator<ClassifiedItem, void, undefined> {
  for await (const classified of items) {
    const { id, order, output, source } = classified.item;
    const { kind } = classified.decision;
    const status = kind === 'share' ? 'reuse' : kind;
    const file = path.join(outputDir, output);
    if (globals.json === true) {
      const fields = { id, status, output: file, source, voiceId: order.voiceId };
      await io.writeOut(`${toJson({ event: 'item', ...fields })}\n`);
    } else if (globals.quiet !== true) {
      await io.writeOut(`${display(`${status.padEnd(5)}  ${id}  ${file}`)}\n`);
    }
    yield classified;
  }
}
