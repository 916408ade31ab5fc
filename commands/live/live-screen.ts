import type { Io } from '../../src/cli/io.ts';
import { toJson } from '../../src/text/display.ts';
import type { LiveNotice } from '../../src/live/conversation.ts';
import type { FrameMessage } from '../../src/realtime/frames.ts';

/** Where it is told what happens in a conversation. */
export interface LiveScreen {
  tell(notice: LiveNotice): void;
  /** The last line of `--json`; resolves when all lines were taken, throws when they cannot be. */
  conclude(summary: object): Promise<void>;
}

/** Tells as lines of JSON on stdout, or what matters on stderr. */
export function liveScreen(io: Io, isJson: boolean): LiveScreen {
  if (!isJson) {
    return {
      tell(notice) {
        for (const line of linesOf(notice)) io.notice(`foley: ${line}`);
      },
      conclude: () => Promise.resolve(),
    };
  }
  let last = Promise.resolve();
  const write = (event: object): void => {
    last = last.then(() => io.writeOut(`${toJson(event)}\n`));
    // It is told at the end: what is being spoken goes on.
    last.catch(() => undefined);
  };
  return {
    tell(notice) {
      const event = eventOf(notice);
      if (event !== undefined) write(event);
    },
    conclude(summary) {
      write({ event: 'summary', ...summary });
      return last;
    },
  };
}

/** What a person has to know. */
function linesOf(notice: LiveNotice): readonly string[] {
  if (notice.type === 'reconnecting') {
    return [`${notice.because.message}; trying to go on (attempt ${notice.attempt})`];
  }
  const { message } = notice;
  if (message.event === 'warning') return [`${message.code}: ${message.message}`];
  return message.event === 'ready' ? warningsOf(message.fields).map(worded) : [];
}

/** A line of `--json`; undefined for what the last line says. */
function eventOf(notice: LiveNotice): object | undefined {
  if (notice.type === 'reconnecting') {
    const { code, message } = notice.because;
    return { event: 'reconnecting', attempt: notice.attempt, code, message };
  }
  const { message } = notice;
  switch (message.event) {
    case 'ready':
      return readyEvent(message.fields);
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

function readyEvent(fields: FrameMessage): object {
  const { effectiveRequest, format, modelId, requestId, sessionId, voiceId } = fields;
  const told = { requestId, sessionId, voiceId, modelId, format, effectiveRequest };
  const known = Object.entries(told).map(([name, value]) => [name, value ?? null]);
  return { event: 'ready', ...Object.fromEntries(known), warnings: warningsOf(fields) };
}

/** What v3 says of controls that it does not apply. */
function warningsOf({ warnings }: FrameMessage): readonly unknown[] {
  return Array.isArray(warnings) ? warnings : [];
}

function worded(warning: unknown): string {
  if (typeof warning !== 'object' || warning === null) return String(warning);
  const { code, message }: { code?: unknown; message?: unknown } = warning;
  const words = [code, message].filter((word) => typeof word === 'string');
  return words.length === 0 ? toJson(warning) : words.join(': ');
}
