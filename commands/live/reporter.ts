import type { Io } from '../../src/cli/io.ts';
import type { LiveNotice } from '../../src/live/conversation.ts';
import type { FrameMessage } from '../../src/realtime/frames.ts';
import { sliceCodePoints } from '../../src/text/code-points.ts';
import { toJson } from '../../src/text/display.ts';
import type { Format } from '../../src/audio/formats.ts';
import type { CodePointRange } from '../../src/contract/unspoken.ts';

/** An event of `foley live`: with `--json`, each is a line on stdout. */
export type LiveEvent =
  | ReadyEvent
  | ReconnectingEvent
  | SegmentEvent
  | UsageEvent
  | WarningEvent
  | LiveSummaryEvent;

/** The service has started a session. A field is null if the service does not send it. */
interface ReadyEvent {
  readonly event: 'ready';
  readonly requestId: unknown;
  readonly sessionId: unknown;
  readonly voiceId: unknown;
  readonly modelId: unknown;
  readonly format: unknown;
  readonly effectiveRequest: unknown;
  readonly warnings: readonly unknown[];
}

/** The connection dropped, and foley connects again. */
interface ReconnectingEvent {
  readonly event: 'reconnecting';
  readonly attempt: number;
  readonly code: string;
  readonly message: string;
}

/** The audio of a segment is complete. */
interface SegmentEvent {
  readonly event: 'segment';
  readonly segmentId: string;
  readonly bytes: number | null;
}

interface UsageEvent {
  readonly event: 'usage';
  /** Units of the session so far. */
  readonly units: number | null;
  readonly quotaRemaining: number | null;
}

interface WarningEvent {
  readonly event: 'warning';
  readonly code: string;
  readonly message: string;
  readonly segmentId?: string | undefined;
  /** The parts of the segment that the voice left out. */
  readonly unspoken?: readonly UnspokenPart[];
}

interface UnspokenPart extends CodePointRange {
  readonly text?: string;
}

/** A word of a segment. The segment is null in the mode `simple`. */
interface SegmentWord extends UnspokenPart {
  readonly segmentId: string | null;
}

/** The last event: the audio and its price. */
interface LiveSummaryEvent {
  readonly event: 'summary';
  /** Path of the file; null if the audio went to stdout or a player. */
  readonly output: string | null;
  readonly bytes: number;
  readonly format: Format;
  readonly voiceId: string;
  /** Null if the service chose the model. */
  readonly modelId: string | null;
  readonly requestId: string;
  readonly units: number | null;
  readonly creditsUsed: number | null;
  readonly quotaRemaining: number | null;
  /** Number of completed segments. */
  readonly segments: number;
  /** The words that the voice left out, with their positions in the segment. */
  readonly unspoken: readonly SegmentWord[];
  readonly target: 'embedded' | 'hosted';
}

// Limits for a service that sends warnings without end.
const MAX_WARNINGS = 100;
const WARNING_MAX_CHARACTERS = 500;

/**
 * Creates the reporter of a conversation: prints its warnings on stderr, or with `--json` its events on stdout. Leaves
 * out warnings after the first hundred.
 */
export function createReporter(io: Io, isJson: boolean) {
  const limited = limitWarnings();
  if (!isJson) {
    return {
      report(notice: LiveNotice) {
        for (const shown of limited(notice)) {
          for (const line of formatNotice(shown)) io.notice(`foley: ${line}`);
        }
      },
      finish: () => Promise.resolve(),
    };
  }
  let last = Promise.resolve();
  const write = (event: LiveEvent): void => {
    last = last.then(() => io.writeOut(`${toJson(event)}\n`));
    // `finish` throws the error: until then the conversation continues.
    last.catch(() => undefined);
  };
  return {
    report(notice: LiveNotice) {
      for (const shown of limited(notice)) {
        const event = jsonEvent(shown);
        if (event !== undefined) write(event);
      }
    },
    finish(summary: LiveSummaryEvent) {
      write(summary);
      return last;
    },
  };
}

function limitWarnings(): (notice: LiveNotice) => readonly LiveNotice[] {
  let count = 0;
  return (notice) => {
    if (notice.type !== 'notice') return [notice];
    const { message } = notice;
    if (message.event === 'ready') {
      const all = warningsOf(message.fields);
      const warnings = all.slice(0, Math.max(0, MAX_WARNINGS - count));
      count += warnings.length;
      const fields = { ...message.fields, warnings };
      const shown: LiveNotice = { type: 'notice', message: { ...message, fields } };
      return warnings.length < all.length ? [shown, OMITTED] : [shown];
    }
    if (message.event !== 'warning') return [notice];
    count += 1;
    if (count > MAX_WARNINGS) return count === MAX_WARNINGS + 1 ? [OMITTED] : [];
    return [{ type: 'notice', message: shortened(message) }];
  };
}

const OMITTED: LiveNotice = {
  type: 'notice',
  message: {
    event: 'warning',
    code: 'warnings_omitted',
    message: 'the service sends many warnings; foley does not show more of them',
  },
};

function shortened<Warning extends { readonly code: string; readonly message: string }>(
  warning: Warning,
): Warning {
  const [code, message] = [warning.code, warning.message].map((text) =>
    sliceCodePoints(text, 0, WARNING_MAX_CHARACTERS),
  );
  return { ...warning, code, message };
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

function jsonEvent(notice: LiveNotice): LiveEvent | undefined {
  if (notice.type === 'reconnecting') {
    const { code, message } = notice.reason;
    return { event: 'reconnecting', attempt: notice.attempt, code, message };
  }
  const { message } = notice;
  switch (message.event) {
    case 'ready': {
      const { effectiveRequest, format, modelId, requestId, sessionId, voiceId } = message.fields;
      return {
        event: 'ready',
        requestId: requestId ?? null,
        sessionId: sessionId ?? null,
        voiceId: voiceId ?? null,
        modelId: modelId ?? null,
        format: format ?? null,
        effectiveRequest: effectiveRequest ?? null,
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
  const line = texts.length === 0 ? toJson(warning) : texts.join(': ');
  return sliceCodePoints(line, 0, WARNING_MAX_CHARACTERS);
}
