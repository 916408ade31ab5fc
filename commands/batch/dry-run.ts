import path from 'node:path';
import { speechJobBody } from '../../src/api/resources/jobs.ts';
import { keptFolder, readBatchFolder } from '../../src/batch/journal/batch-folder.ts';
import { alignedBody, captionNames } from '../../src/batch/run/aligned-speaker.ts';
import { createOutputLook, surveyItems } from '../../src/batch/run/classify.ts';
import type { Surveyed, SurveyWishes } from '../../src/batch/run/classify.ts';
import { isInFolder } from '../../src/batch/run/reuse-audio.ts';
import type { Context } from '../../src/cli/command.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { display, toJson, counted } from '../../src/text/display.ts';
import { connectBatch } from './connect-batch.ts';
import { checkEstimate, createEstimator } from './estimate.ts';
import type { PreparedBatch } from './prepare.ts';
import type { Overview } from './screen.ts';
import { overviewOf } from './screen.ts';

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
    const { outputDir } = flags;
    const besides = (output: string) => captionNames(output, captions?.formats ?? []);
    const { files } = context;
    const lookup = { outputDir, index, files, kept: keptFolder(outputDir), besides };
    const wishes: SurveyWishes = {
      ...lookup,
      look: createOutputLook(lookup),
      isElsewhere: (status, output) => isInFolder(status, output, lookup),
      bodyOf: (order) =>
        captions === undefined ? speechJobBody(order).bytes : alignedBody(client, order),
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
  for await (const surveyed of surveyItems(items, wishes)) {
    const { item } = surveyed;
    const output = path.join(outputDir, item.output);
    const { id, order, source } = item;
    const { kind } = surveyed.decision;
    await event(context, {
      event: 'item',
      id,
      status: kind === 'share' ? 'reuse' : kind,
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

const WORDS = {
  speak: 'speak',
  fetch: 'fetch',
  reuse: 'reuse',
  share: 'reuse',
  skip: 'skip ',
  ended: 'ended',
} as const;

async function event({ globals, io }: Context, data: object): Promise<void> {
  if (globals.json === true) await io.writeOut(`${toJson(data)}\n`);
}

function overviewLine({
  characters,
  estimatedCredits,
  failed,
  skipped,
  toFetch,
  toReuse,
  toSpeak,
}: Overview) {
  const cost =
    estimatedCredits === null
      ? 'what they cost is not known yet (--credit-rate tells)'
      : `about ${counted(estimatedCredits, 'credit')}`;
  return `${toSpeak} to speak (${counted(characters, 'character')}, ${cost}), ${toFetch} to fetch, ${toReuse} to move or copy, ${skipped} done before, ${failed} failed before`;
}
