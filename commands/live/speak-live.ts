import path from 'node:path';
import type { Connection } from '../../src/cli/command.ts';
import { openJournal } from '../../src/cli/journal.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { playbackOptions, playFile, streamOf } from '../../src/cli/speech/delivery.ts';
import { spokenNotice } from '../../src/cli/speech/summary.ts';
import type { Output } from '../../src/durable/output.ts';
import { untilStopped } from '../../src/effects/concurrency.ts';
import { LiveFacts } from '../../src/live/live-way.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { openPlanned } from '../../src/speech/output-plan.ts';
import { startPlayback } from '../../src/speech/play.ts';
import type { AudioStream, Spoken } from '../../src/speech/speak.ts';
import { speak } from '../../src/speech/speak.ts';
import { conversationWay } from './conversation-way.ts';
import type { LiveScreen } from './live-screen.ts';
import { liveScreen } from './live-screen.ts';
import { liveRequest } from './request.ts';
import type { LiveTask } from './request.ts';

/** Opens the output, then the conversation, and delivers what is heard. */
export async function speakLive(task: LiveTask): Promise<CommandResult> {
  const { context, flags, plan, player, text = '' } = task;
  const { signal } = context;
  const { state } = await context.paths();
  const output = await openPlanned(plan, { ...context, text, noClobber: !flags.clobber, state });
  const progress = startProgress(context.io, context.clock, 'speaking');
  const playback =
    player === undefined || output !== undefined
      ? undefined
      : await startPlayback(player, playbackOptions(context));
  try {
    const connection = await untilStopped(context.connect({ speaks: true }), signal);
    const request = await liveRequest(task, connection);
    const facts = new LiveFacts();
    const stream = streamOf(context, plan, playback);
    const screen = liveScreen(context.io, context.globals.json === true);
    const order = { connection, facts, output, request, screen, stream };
    const spoken = await speakInto(task, order);
    progress.stop();
    context.io.notice(spokenNotice(spoken));
    if (player !== undefined && spoken.path !== undefined) {
      await playFile(player, spoken.path, context);
    }
    await screen.conclude(summary(spoken, order));
    return {};
  } finally {
    progress.stop();
    playback?.stop();
    // After it was published or kept this does nothing.
    await output?.abandon();
  }
}

interface LiveOrder {
  readonly connection: Connection;
  readonly facts: LiveFacts;
  readonly output: Output | undefined;
  readonly request: LivePlan['request'];
  readonly screen: LiveScreen;
  readonly stream: AudioStream;
}

async function speakInto(task: LiveTask, order: LiveOrder): Promise<Spoken> {
  const { context, flags, plan, text = '' } = task;
  const { connection, output, request, stream } = order;
  const requestId = flags.requestId ?? context.random.uuid();
  const { state } = await context.paths();
  const { journal } = await openJournal(context);
  try {
    return await speak({
      client: connection.client,
      body: { text, voiceId: request.voiceId, modelId: request.modelId },
      speech: {
        idempotencyKey: { value: requestId, madeByTool: flags.requestId === undefined },
        requestId,
        signal: context.signal,
      },
      way: conversationWay(task, { ...order, requestId }),
      plan,
      output,
      stream,
      journal,
      spool: async () => {
        const { createSpool } = await import('../../src/durable/spool.ts');
        return createSpool({ ...context, folder: path.join(state, 'spool') });
      },
      notice: (line) => context.io.notice(line),
    });
  } finally {
    await journal.close();
  }
}

/** What the last line of `--json` tells. */
function summary(
  { answer, path: output, verdict }: Spoken,
  { connection, facts, request }: LiveOrder,
): object {
  return {
    output: output ?? null,
    bytes: verdict.bytes,
    format: verdict.format,
    voiceId: request.voiceId,
    modelId: request.modelId,
    requestId: answer.requestId,
    units: facts.units ?? null,
    creditsUsed: facts.creditsUsed ?? null,
    quotaRemaining: facts.quotaRemaining ?? null,
    segments: facts.segments,
    target: connection.target,
  };
}
