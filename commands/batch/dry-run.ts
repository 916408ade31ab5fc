import path from 'node:path';
import { readBatchFolder } from '../../src/batch/journal/batch-folder.ts';
import { alignedBody, captionNames } from '../../src/batch/run/aligned-speaker.ts';
import { jobBody } from '../../src/batch/run/job-speaker.ts';
import { createOutputLook } from '../../src/batch/run/output-state.ts';
import type { Surveyed, SurveyWishes } from '../../src/batch/run/survey.ts';
import { surveyItem } from '../../src/batch/run/survey.ts';
import type { Context } from '../../src/cli/context.ts';
import { toJson } from '../../src/cli/render.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { counted } from '../../src/text/counted.ts';
import { display } from '../../src/text/display.ts';
import { connectBatch } from './connect-batch.ts';
import { checkEstimate, createEstimator } from './estimate.ts';
import type { Overview } from './overview.ts';
import { overviewOf } from './overview.ts';
import type { PreparedBatch } from './prepare.ts';

/** What a batch would do (`--dry-run`): looks at everything, writes and sends nothing. */
export async function describeBatch(
  context: Context,
  batch: PreparedBatch,
): Promise<CommandResult> {
  const { captions, flags } = batch;
  const index = await readBatchFolder(flags.outputDir, context.files);
  const connection = await connectBatch(context, batch);
  try {
    const { client, origin, voiceId } = connection;
    const wishes: SurveyWishes = {
      index,
      look: createOutputLook({ outputDir: flags.outputDir, index, files: context.files }),
      bodyOf: (order) =>
        captions === undefined ? jobBody(client, order) : alignedBody(client, order),
      besides: (output) => captionNames(output, captions?.formats ?? []),
      origin,
      overwrite: flags.overwrite === true,
      retriesFailed: flags.retryFailed === true,
      isRedone: (id) => batch.redo.ids.has(id),
      redoToken:
        batch.redo.digest === undefined ? undefined : index.interruptedRedo(batch.redo.digest),
    };
    const estimator = await createEstimator(context, batch, connection);
    const overview = await overviewOf(
      shown(context, batch.items(voiceId), wishes, flags.outputDir),
      estimator,
    );
    checkEstimate(overview.estimatedCredits ?? undefined, flags.maxCredits);
    await event(context, { event: 'plan', ...overview });
    return { human: () => overviewLine(overview) };
  } finally {
    await connection.close();
  }
}

/** Lists every item on the way (`--json`: an event a line). */
async function* shown(
  context: Context,
  items: ReturnType<PreparedBatch['items']>,
  wishes: SurveyWishes,
  outputDir: string,
): AsyncGenerator<Surveyed, void, undefined> {
  for await (const item of items) {
    const surveyed = await surveyItem(item, wishes);
    const output = path.join(outputDir, item.output);
    const { id, order, source } = item;
    const { kind } = surveyed.decision;
    await event(context, {
      event: 'item',
      id,
      status: kind,
      output,
      source,
      voiceId: order.voiceId,
    });
    if (context.globals.json !== true && context.globals.quiet !== true) {
      await context.io.writeOut(`${display(`${WORDS[kind]}  ${id}  ${output}`)}\n`);
    }
    yield surveyed;
  }
}

const WORDS = { speak: 'speak', fetch: 'fetch', skip: 'skip ', ended: 'ended' } as const;

async function event({ globals, io }: Context, data: object): Promise<void> {
  if (globals.json === true) await io.writeOut(`${toJson(data)}\n`);
}

function overviewLine({
  characters,
  estimatedCredits,
  failed,
  skipped,
  toFetch,
  toSpeak,
}: Overview) {
  const cost =
    estimatedCredits === null
      ? 'what they cost is not known yet (--credit-rate tells)'
      : `about ${counted(estimatedCredits, 'credit')}`;
  return `${toSpeak} to speak (${counted(characters, 'character')}, ${cost}), ${toFetch} to fetch, ${skipped} done before, ${failed} failed before`;
}
