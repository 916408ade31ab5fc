import { redactUrl } from '../../src/api/redact.ts';
import type { ServiceConnection, Context } from '../../src/cli/command.ts';
import { describeEvent } from '../../src/cli/render/service-events.ts';
import { openJournal, openSpool } from '../shared/journal.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { describeSpeech, openPlayback, playFile, streamOf } from '../shared/speech/speak.ts';
import { namedVoice } from '../shared/flags/voices.ts';
import { abortable } from '../../src/system/concurrency.ts';
import type { LiveNotice } from '../../src/live/conversation.ts';
import { createSegmentCutter, markdownPieces, watchLanguage } from '../../src/live/feed-text.ts';
import { LiveMetadata, httpRequests, liveTransport } from '../../src/live/live-transport.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { liveTimeouts } from '../../src/live/state.ts';
import type { HandshakeObserver } from '../../src/live/websocket.ts';
import type { Clock } from '../../src/system/clock.ts';
import { handshakeOf, openWebSockets } from '../../src/live/websocket.ts';
import { openPlanned, speak } from '../../src/paid/speakers/speak-stream.ts';
import type { SpeechTransport } from '../../src/paid/speakers/speak-stream.ts';
import { readPieces, unreadable } from '../../src/speech/text-source.ts';
import { describeUnspoken } from '../../src/paid/unspoken.ts';
import { quoted } from '../../src/text/display.ts';
import { refuseForeign } from '../../src/text/formats/foreign-formats.ts';
import { markupNotice } from '../../src/text/formats/guess-format.ts';
import { createReporter } from './reporter.ts';
import { liveRequest } from './request.ts';
import type { LiveTask } from './request.ts';

const MAX_RETRIES = 4;
const FLUSH_AFTER_MS = 700;

/** Runs `foley live`: opens the output, speaks the text over a WebSocket and writes the audio. */
export async function speakLive(task: LiveTask): Promise<CommandResult> {
  const { context, flags, plan, player, text = '' } = task;
  const { globals, io, signal } = context;
  const { state } = await context.paths();
  const output = await openPlanned(context.system, plan, {
    signal: context.signal,
    text,
    noClobber: !flags.clobber,
    state,
  });
  const progress = startProgress(io, context.system.clock, 'speaking');
  const playback =
    player === undefined || output !== undefined ? undefined : await openPlayback(player, context);
  try {
    const connection = await abortable(context.connect({ speaks: true }), signal);
    const request = await liveRequest(task, connection);
    const requestId = flags.requestId ?? context.system.random.uuid();
    const reporter = createReporter(io, globals.json === true);
    const metadata = new LiveMetadata();
    const transport = transportFor(task, connection, {
      plan: livePlan(task, request, requestId),
      metadata,
      onNotice: (notice) => reporter.report(notice),
    });
    const { journal } = await openJournal(context);
    const spoken = await speak({
      client: connection.client,
      body: { text, voiceId: request.voiceId, modelId: request.modelId },
      speech: {
        idempotencyKey: { value: requestId, madeByTool: flags.requestId === undefined },
        requestId,
        signal,
      },
      transport,
      format: plan.format,
      output,
      stream: streamOf(context, plan, playback),
      journal,
      spool: () => openSpool(context),
      notice: (line) => io.notice(line),
    }).finally(() => journal.close());
    progress.stop();
    io.notice(describeSpeech(spoken));
    if (player !== undefined && spoken.path !== undefined) {
      await playFile(player, spoken.path, context);
    }
    const { unspoken } = metadata;
    if (unspoken.length > 0) {
      io.warn(describeUnspoken(unspoken, { voice: request.voiceId }));
    }
    await reporter.finish({
      event: 'summary',
      output: spoken.path ?? null,
      bytes: spoken.verdict.bytes,
      format: spoken.verdict.format,
      voiceId: request.voiceId,
      modelId: request.modelId,
      requestId: spoken.response.requestId,
      units: metadata.units ?? null,
      creditsUsed: metadata.creditsUsed ?? null,
      quotaRemaining: metadata.quotaRemaining ?? null,
      segments: metadata.segments,
      unspoken,
      target: connection.target,
    });
    return unspoken.length > 0 ? { exit: 'partial' } : {};
  } finally {
    progress.stop();
    await playback?.stop();
    // Does nothing after the output was published or spooled.
    await output?.abandon();
  }
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
    timeouts: liveTimeouts({
      responseTimeoutMs: globals.responseTimeout,
      idleTimeoutMs: globals.idleTimeout,
    }),
  };
}

function transportFor(
  { context, flags, isMarkdown, lexicon, mode, protocol, text }: LiveTask,
  connection: ServiceConnection,
  {
    metadata,
    onNotice,
    plan,
  }: { metadata: LiveMetadata; onNotice: (notice: LiveNotice) => void; plan: LivePlan },
): SpeechTransport {
  const { clock, random } = context.system;
  const { env, globals, io, signal } = context;
  const { client, target } = connection;
  const { requestId } = plan;
  // The voice is already chosen. Choosing it again for the text prints the notice.
  const noticeLanguage = async (beginning: string): Promise<void> => {
    await namedVoice(context, flags, client, target, beginning);
  };
  const handshake = handshakeOf(client, protocol, {
    clock,
    requestId,
    // Half for a proxy and half for the host, so that the error names the one that does not respond.
    timeoutMs: plan.timeouts.replyMs / 2,
    observer:
      globals.verbose === true
        ? handshakeLog((line) => io.complain(line), clock, requestId)
        : undefined,
  });
  const isReliable = mode === 'reliable';
  const { code } = flags;
  return liveTransport(
    client,
    {
      plan,
      metadata,
      signal,
      repeatWith: `--request-id ${quoted(requestId)}${isReliable ? ' --retry-failed' : ''}`,
      async *pieces(over) {
        if (text !== undefined) return yield text;
        const arriving = readPieces(io.stdin(), 'stdin', over);
        const plain = flags.textFormat === 'plain' ? arriving : noticeMarkup(arriving, io);
        const pieces = isMarkdown ? markdownPieces(arriving, code) : plain;
        yield* target === 'embedded' ? watchLanguage(pieces, noticeLanguage) : pieces;
      },
      lexicon: text === undefined ? lexicon : undefined,
      cutter: isReliable
        ? createSegmentCutter(flags.segmentBy ?? 'sentence', { skipsSilent: isMarkdown })
        : undefined,
      flushAfterMs: isReliable ? (flags.flushAfter ?? FLUSH_AFTER_MS) : undefined,
    },
    {
      clock,
      random,
      openSocket: openWebSockets(handshake, env),
      ...httpRequests(client, protocol),
      onNotice,
    },
  );
}

// Prints a notice if the text looks like a document.
async function* noticeMarkup(
  pieces: AsyncIterable<string>,
  io: Context['io'],
): AsyncGenerator<string, void, undefined> {
  let beginning = '';
  let sentence: string | undefined;
  for await (const piece of pieces) {
    if (beginning === '') refuseDocument(piece);
    if (sentence === undefined && beginning.length < MARKUP_CHARACTERS) {
      beginning += piece;
      sentence = markupNotice(beginning, 'stdin', true);
      if (sentence !== undefined) io.notice(`foley: ${sentence}`);
    }
    yield piece;
  }
}

const MARKUP_CHARACTERS = 1_000;

function refuseDocument(beginning: string): void {
  try {
    refuseForeign('stdin', Buffer.from(beginning));
  } catch (error) {
    throw unreadable('stdin', error);
  }
}

/** Returns callbacks for `--verbose` that log each WebSocket handshake with its duration. */
export function handshakeLog(
  log: (line: string) => void,
  clock: Clock,
  requestId: string,
): HandshakeObserver {
  let attempt = 0;
  let since = clock.monotonic();
  return {
    onConnect() {
      attempt += 1;
      since = clock.monotonic();
    },
    onResponse({ url, ...response }) {
      const ms = clock.monotonic() - since;
      const event = { method: 'GET', url: redactUrl(url), ms, requestId, attempt };
      log(
        describeEvent(
          response.status === undefined
            ? { type: 'no_response', ...event, reason: response.reason }
            : { type: 'response', ...event, status: response.status },
        ),
      );
    },
  };
}
