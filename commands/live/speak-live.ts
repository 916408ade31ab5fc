import { redactUrl } from '../../src/api/redact.ts';
import type { Connection, Context } from '../../src/cli/command.ts';
import { describeEvent } from '../../src/cli/render/service-events.ts';
import type { Io } from '../../src/cli/io.ts';
import { quoted } from '../../src/cli/jobs/format.ts';
import { openJournal, openSpool } from '../../src/cli/journal.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { describeSpeech, openPlayback, playFile, streamOf } from '../../src/cli/speech/speak.ts';
import { abortable } from '../../src/effects/concurrency.ts';
import type { LiveNotice } from '../../src/live/conversation.ts';
import { createSegmentCutter, markdownPieces } from '../../src/live/feed-text.ts';
import { LiveMetadata, httpRequests, liveTransport } from '../../src/live/live-transport.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { liveTimeouts } from '../../src/live/state.ts';
import type { Handshake } from '../../src/live/websocket.ts';
import { handshakeOf, openWebSockets } from '../../src/live/websocket.ts';
import type { FrameMessage } from '../../src/realtime/frames.ts';
import { openPlanned, speak } from '../../src/speech/speak.ts';
import type { SpeechTransport } from '../../src/speech/speak.ts';
import { readPieces } from '../../src/speech/text-source.ts';
import { describeUnspoken } from '../../src/speech/unspoken.ts';
import { toJson } from '../../src/text/display.ts';
import { liveRequest } from './request.ts';
import type { LiveTask } from './request.ts';

const MAX_RETRIES = 4;
const FLUSH_AFTER_MS = 700;

/** Runs `foley live`: opens the output, speaks the text over a WebSocket and writes the audio. */
export async function speakLive(task: LiveTask): Promise<CommandResult> {
  const { context, flags, plan, player, text = '' } = task;
  const { globals, io, signal } = context;
  const { state } = await context.paths();
  const output = await openPlanned(plan, { ...context, text, noClobber: !flags.clobber, state });
  const progress = startProgress(io, context.clock, 'speaking');
  const playback =
    player === undefined || output !== undefined ? undefined : await openPlayback(player, context);
  try {
    const connection = await abortable(context.connect({ speaks: true }), signal);
    const request = await liveRequest(task, connection);
    const requestId = flags.requestId ?? context.random.uuid();
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
  { client }: Connection,
  {
    metadata,
    onNotice,
    plan,
  }: { metadata: LiveMetadata; onNotice: (notice: LiveNotice) => void; plan: LivePlan },
): SpeechTransport {
  const { clock, env, io, random, signal } = context;
  const { requestId } = plan;
  const handshake = handshakeOf(client, protocol, {
    clock,
    requestId,
    // Half for a proxy and half for the host, so that the error names the one that does not respond.
    timeoutMs: plan.timeouts.replyMs / 2,
    ...handshakeLog(context, requestId),
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
        if (text !== undefined) yield text;
        else if (isMarkdown) yield* markdownPieces(readPieces(io.stdin(), 'stdin', over), code);
        else yield* readPieces(io.stdin(), 'stdin', over);
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

/** Returns callbacks for `--verbose` that log each WebSocket handshake with its duration. */
export function handshakeLog(
  {
    clock,
    globals,
    io,
  }: {
    readonly clock: Context['clock'];
    readonly globals: Pick<Context['globals'], 'verbose'>;
    readonly io: Pick<Context['io'], 'complain'>;
  },
  requestId: string,
): Pick<Handshake, 'onConnect' | 'onResponse'> {
  let attempt = 0;
  let since = clock.monotonic();
  return {
    onConnect() {
      attempt += 1;
      since = clock.monotonic();
    },
    onResponse({ url, ...response }) {
      if (globals.verbose !== true) return;
      const ms = clock.monotonic() - since;
      const event = { method: 'GET', url: redactUrl(url), ms, requestId, attempt };
      io.complain(
        describeEvent(
          response.status === undefined
            ? { type: 'no_response', ...event, reason: response.reason }
            : { type: 'response', ...event, status: response.status },
        ),
      );
    },
  };
}

function createReporter(io: Io, isJson: boolean) {
  if (!isJson) {
    return {
      report(notice: LiveNotice) {
        for (const line of formatNotice(notice)) io.notice(`foley: ${line}`);
      },
      finish: () => Promise.resolve(),
    };
  }
  let last = Promise.resolve();
  const write = (event: object): void => {
    last = last.then(() => io.writeOut(`${toJson(event)}\n`));
    // `finish` throws the error: until then the conversation continues.
    last.catch(() => undefined);
  };
  return {
    report(notice: LiveNotice) {
      const event = jsonEvent(notice);
      if (event !== undefined) write(event);
    },
    finish(summary: object) {
      write({ event: 'summary', ...summary });
      return last;
    },
  };
}

function formatNotice(notice: LiveNotice): readonly string[] {
  if (notice.type === 'reconnecting') {
    return [`${notice.reason.message}; reconnecting (attempt ${notice.attempt})`];
  }
  const { message } = notice;
  // `speakLive` reports all of them at the end.
  if (message.event === 'warning' && message.unspoken !== undefined) return [];
  if (message.event === 'warning') return [`${message.code}: ${message.message}`];
  return message.event === 'ready' ? warningsOf(message.fields).map(formatWarning) : [];
}

function jsonEvent(notice: LiveNotice): object | undefined {
  if (notice.type === 'reconnecting') {
    const { code, message } = notice.reason;
    return { event: 'reconnecting', attempt: notice.attempt, code, message };
  }
  const { message } = notice;
  switch (message.event) {
    case 'ready': {
      const { effectiveRequest, format, modelId, requestId, sessionId, voiceId } = message.fields;
      const given = { requestId, sessionId, voiceId, modelId, format, effectiveRequest };
      const fields = Object.entries(given).map(([name, value]) => [name, value ?? null]);
      return {
        event: 'ready',
        ...Object.fromEntries(fields),
        warnings: warningsOf(message.fields),
      };
    }
    case 'segment_completed':
      return { event: 'segment', segmentId: message.segmentId, bytes: message.audioBytes ?? null };
    case 'usage': {
      const { quotaRemaining = null, sessionUnits: units = null } = message;
      return { event: 'usage', units, quotaRemaining };
    }
    case 'warning':
      return message;
    case 'finish':
      return undefined;
  }
}

function warningsOf({ warnings }: FrameMessage): readonly unknown[] {
  return Array.isArray(warnings) ? warnings : [];
}

function formatWarning(warning: unknown): string {
  if (typeof warning !== 'object' || warning === null) return String(warning);
  const { code, message }: { code?: unknown; message?: unknown } = warning;
  const texts = [code, message].filter((text) => typeof text === 'string');
  return texts.length === 0 ? toJson(warning) : texts.join(': ');
}
