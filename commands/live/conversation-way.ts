import { redactUrl } from '../../src/api/redact.ts';
import type { Context, Connection } from '../../src/cli/command.ts';
import { describeEvent } from '../../src/cli/connect.ts';
import { quoted } from '../../src/cli/jobs/format.ts';
import { createSegmentCutter } from '../../src/live/feed-text.ts';
import { handshakeOf } from '../../src/live/handshake.ts';
import type { Handshake } from '../../src/live/handshake.ts';
import type { LiveFacts } from '../../src/live/live-way.ts';
import { liveWay, httpQuestions } from '../../src/live/live-way.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { liveWaits } from '../../src/live/state.ts';
import { wsSockets } from '../../src/live/ws-socket.ts';
import type { SpeechWay } from '../../src/speech/speak.ts';
import { readPieces } from '../../src/speech/text-source.ts';
import type { LiveScreen } from './live-screen.ts';
import type { LiveTask } from './request.ts';

const MAX_RETRIES = 4;
const FLUSH_AFTER_MS = 700;

interface ConversationOrder {
  readonly connection: Connection;
  readonly facts: LiveFacts;
  readonly request: LivePlan['request'];
  readonly requestId: string;
  readonly screen: LiveScreen;
}

/** How a conversation is held: by which plan, over which sockets, and where its text comes from. */
export function conversationWay(
  task: LiveTask,
  { connection, facts, request, requestId, screen }: ConversationOrder,
): SpeechWay {
  const { context, flags, mode, protocol } = task;
  const { clock, env, random, signal } = context;
  const { client } = connection;
  const plan = livePlan(task, request, requestId);
  const handshake = handshakeOf(client, protocol, {
    clock,
    requestId,
    // Half for a proxy and half for the host behind it, so that the one that hangs is named.
    timeoutMs: plan.waits.replyMs / 2,
    ...handshakeLines(context, requestId),
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

/** One line for each handshake, as for every request (`--verbose`); between two of them lies a conversation. */
export function handshakeLines(
  {
    clock,
    globals,
    io,
  }: Pick<Context, 'clock'> & {
    readonly globals: Pick<Context['globals'], 'verbose'>;
    readonly io: Pick<Context['io'], 'complain'>;
  },
  requestId: string,
): Pick<Handshake, 'onAnswer' | 'onConnect'> {
  let attempt = 0;
  let since = clock.monotonic();
  return {
    onConnect() {
      attempt += 1;
      since = clock.monotonic();
    },
    onAnswer({ url, ...answer }) {
      if (globals.verbose !== true) return;
      const ms = clock.monotonic() - since;
      const seen = { method: 'GET', url: redactUrl(url), ms, requestId, attempt };
      io.complain(
        describeEvent(
          answer.status === undefined
            ? { type: 'no_answer', ...seen, reason: answer.reason }
            : { type: 'answer', ...seen, status: answer.status },
        ),
      );
    },
  };
}
