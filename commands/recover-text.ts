import type { Context } from '../src/cli/context.ts';
import { startProgress } from '../src/cli/progress.ts';
import type { IntentJournal } from '../src/files/intents.ts';
import type { Recovered } from '../src/speech/leftovers.ts';
import type { LeftText } from '../src/speech/long-text/record-list.ts';
import { recoverLongText } from '../src/speech/long-text/recover-long-text.ts';
import { untilStopped } from '../src/speech/until-stopped.ts';
import { partConcurrency, partSpool, recordOptions } from './long-text-records.ts';

/** Goes on with a text that is spoken in parts; the service is asked only when something is missing. */
export async function recoverText(
  left: LeftText,
  context: Context,
  journal: IntentJournal,
): Promise<Recovered> {
  const count = left.plan.parts.length;
  const progress = startProgress(context.io, context.clock, `fetching part 1 of ${count}`);
  try {
    return await recoverLongText(left, {
      ...context,
      ...(await recordOptions(context)),
      journal,
      concurrency: await partConcurrency(context),
      spool: () => partSpool(context),
      notice: (line) => context.io.notice(line),
      onProgress: (done) => {
        progress.update(`fetching part ${Math.min(done + 1, count)} of ${count}`);
      },
      connect: async () => (await untilStopped(context.connect(), context.signal)).client,
    });
  } finally {
    progress.stop();
  }
}
