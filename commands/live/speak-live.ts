import path from 'node:path';
import { redactUrl } from '../../src/api/redact.ts';
import type { Connection, Context } from '../../src/cli/context.ts';
import { startProgress } from '../../src/cli/progress.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { describeEvent } from '../../src/cli/verbose.ts';
import type { Output } from '../../src/files/output.ts';
import type { HandshakeAnswer } from '../../src/live/handshake.ts';
import { handshakeOf } from '../../src/live/handshake.ts';
import { LiveFacts } from '../../src/live/live-answer.ts';
import { liveWay } from '../../src/live/live-way.ts';
import { httpQuestions } from '../../src/live/questions.ts';
import { createSegmentCutter } from '../../src/live/segment-cutter.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { liveWaits } from '../../src/live/state.ts';
import { wsSockets } from '../../src/live/ws-socket.ts';
import { openPlanned } from '../../src/speech/open-planned.ts';
import { startPlayback } from '../../src/speech/play.ts';
import type { AudioStream, SpeechWay, Spoken } from '../../src/speech/speak.ts';
import { speak } from '../../src/speech/speak.ts';
import { readPieces } from '../../src/speech/text-source.ts';
import { untilStopped } from '../../src/speech/until-stopped.ts';
import { quoted } from '../jobs/resume-command.ts';
import { openJournal } from '../open-journal.ts';
import { playFile, streamOf } from '../tts-delivery.ts';
import { spokenNotice } from '../tts-words.ts';
import { liveRequest } from './live-request.ts';
import type { LiveScreen } from './live-screen.ts';
import { liveScreen } from './live-screen.ts';
import type { LiveTask } from './live-task.ts';

const MAX_RETRIES = 4;
const FLUSH_AFTER_MS = 700;

/** Opens the output, then the conversation, and delivers what is heard. */
export async function speakLive(task: LiveTask): Promise<CommandResult> {
  const { context, flags, plan, player, text = '' } = task;
  const { signal } = context;
  const output = await untilStopped(
    openPlanned(plan, { ...context, text, noClobber: !flags.clobber }),
    signal,
    (opened) => void opened?.abandon(),
  );
  const progress = startProgress(context.io, context.clock, 'speaking');
  const playback =
    player === undefined || output !== undefined ? undefined : await startPlayback(player);
  try {
    const connection = await untilStopped(context.connect(), signal);
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
      way: wayOf(task, order, requestId),
      plan,
      output,
      stream,
      journal,
      spool: async () => {
        const { createSpool } = await import('../../src/files/spool.ts');
        return createSpool({ ...context, folder: path.join(state, 'spool') });
      },
      notice: (line) => context.io.notice(line),
    });
  } finally {
    await journal.close();
  }
}

function wayOf(
  task: LiveTask,
  { connection, facts, request, screen }: LiveOrder,
  requestId: string,
): SpeechWay {
  const { context, flags, mode, protocol } = task;
  const { clock, env, random, signal } = context;
  const { client } = connection;
  const plan = livePlan(task, request, requestId);
  const handshake = handshakeOf(client, protocol, {
    clock,
    requestId,
    timeoutMs: plan.waits.replyMs,
    onAnswer: handshakeObserver(context, requestId),
  });
  const isReliable = mode === 'reliable';
  return liveWay(
    client,
    {
      plan,
      facts,
      signal,
      repeatWith: `--request-id ${quoted(requestId)}${isReliable ? ' --retry-failed' : ''}`,
      pieces: (over) => piecesOf(task, over),
      cutter: isReliable ? createSegmentCutter(flags.segmentBy ?? 'sentence') : undefined,
      flushAfterMs: isReliable ? (flags.flushAfter ?? FLUSH_AFTER_MS) : undefined,
    },
    {
      clock,
      random,
      openSocket: wsSockets({ handshake, env }),
      questions: httpQuestions(client, protocol),
      onNotice: (notice) => screen.tell(notice),
    },
  );
}

function livePlan(
  { context: { globals }, flags, mode, protocol }: LiveTask,
  request: LivePlan['request'],
  requestId: string,
): LivePlan {
  return {
    protocol,
    mode,
    request,
    requestId,
    hasOwnRequestId: flags.requestId !== undefined,
    retryFailed: flags.retryFailed === true,
    maxRetries: globals.maxRetries ?? MAX_RETRIES,
    waits: liveWaits({
      responseTimeoutMs: globals.responseTimeout,
      idleTimeoutMs: globals.idleTimeout,
    }),
  };
}

async function* piecesOf(
  { context, text }: LiveTask,
  over: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  if (text !== undefined) yield text;
  else yield* readPieces(context.io.stdin(), 'stdin', over);
}

/** One line for each handshake, as for every request (`--verbose`). */
function handshakeObserver({ clock, globals, io }: Context, requestId: string) {
  let attempt = 0;
  let since = clock.monotonic();
  return ({ url, ...answer }: HandshakeAnswer): void => {
    attempt += 1;
    const ms = clock.monotonic() - since;
    since = clock.monotonic();
    if (globals.verbose !== true) return;
    const seen = { method: 'GET', url: redactUrl(url), ms, requestId, attempt };
    io.complain(
      describeEvent(
        answer.status === undefined
          ? { type: 'no_answer', ...seen, reason: answer.reason }
          : { type: 'answer', ...seen, status: answer.status },
      ),
    );
  };
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
    creditsUsed: facts.creditsUsed ?? null,
    quotaRemaining: facts.quotaRemaining ?? null,
    segments: facts.segments,
    target: connection.target,
  };
}
