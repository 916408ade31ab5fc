import type { Context } from '../../src/cli/command.ts';
import { partConcurrency, openSpool, recordOptions } from '../shared/journal.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { OpenCaptions } from '../shared/speech/plan.ts';
import type { IntentJournal } from '../../src/paid/intents.ts';
import { abortable } from '../../src/effects/concurrency.ts';
import type { InterruptedText } from '../../src/paid/parts/record.ts';
import { recoverLongText } from '../../src/paid/recover/recover-long-text.ts';
import type { Recovered } from '../../src/paid/recover/recover.ts';

/**
 * Completes an interrupted long text: obtains the missing parts of its audio, and writes the audio and the captions.
 * Connects to the service only if audio is missing.
 */
export async function recoverText(
  left: InterruptedText,
  context: Context,
  { buysLost, journal }: { readonly buysLost: boolean; readonly journal: IntentJournal },
): Promise<Recovered> {
  const count = left.plan.parts.length;
  const captions = await captionsOf(left, context);
  const progress = startProgress(context.io, context.clock, `fetching part 1 of ${count}`);
  try {
    const recovered = await recoverLongText(left, {
      ...context,
      ...(await recordOptions(context)),
      journal,
      buysLost,
      concurrency: await partConcurrency(context),
      spool: () => openSpool(context),
      idleTimeoutMs: context.globals.idleTimeout,
      notice: (line) => context.io.notice(line),
      onAligned: async (text, speech) => captions?.prepare(text, speech),
      onProgress: (done) => {
        progress.update(`fetching part ${Math.min(done + 1, count)} of ${count}`);
      },
      connect: async () => (await abortable(context.connect(), context.signal)).client,
    });
    return captions === undefined ? recovered : await withCaptions(recovered, captions, context);
  } finally {
    progress.stop();
    await captions?.abandon();
  }
}

async function captionsOf(
  { plan }: InterruptedText,
  context: Context,
): Promise<OpenCaptions | undefined> {
  if (plan.delivery === 'stream' || plan.captions === undefined) return undefined;
  const { openCaptions, parseCaptionsRecord } = await import('../shared/speech/captions.ts');
  const captions = parseCaptionsRecord(plan.captions);
  if (captions === undefined) return undefined;
  return openCaptions(captions, context, 'number', { text: '', edits: captions.edits });
}

async function withCaptions(
  recovered: Recovered,
  captions: OpenCaptions,
  context: Context,
): Promise<Recovered> {
  if (!captions.isPrepared) return recovered;
  const { publishCaptions } = await import('../shared/speech/captions.ts');
  const { complete } = await publishCaptions(captions, recovered.output ?? undefined, context);
  if (complete || recovered.outcome === 'partial') return recovered;
  return { ...recovered, outcome: 'partial', problem: UNTIMED };
}

const UNTIMED = 'the service did not time all of its text';
