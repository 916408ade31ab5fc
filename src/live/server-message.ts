import { FINISH_REASONS, REQUEST_STATES } from '../contract/realtime/protocols.ts';
import type { FinishReason, RequestState } from '../contract/realtime/protocols.ts';
import { UnreadableFrame } from '../realtime/frames.ts';
import type { FrameMessage } from '../realtime/frames.ts';

/** What is known of a request, from its event or over HTTP. */
export interface RequestFacts {
  readonly state: RequestState;
  /** What was charged so far. */
  readonly units?: number | undefined;
  readonly segments: readonly SegmentFacts[];
}

export interface SegmentFacts {
  readonly segmentId: string;
  readonly isStored: boolean;
  readonly characters: number | undefined;
  readonly audioBytes: number | undefined;
}

/**
 * A server message as far as a client needs it (docs/api/realtime.md). What it can do without may be missing:
 * the spec does not name every field of v3.
 */
export type HeardMessage =
  | { readonly event: 'authenticated' | 'pong' }
  | { readonly event: 'ready'; readonly fields: FrameMessage }
  | { readonly event: 'input_ack'; readonly acceptedSequence: number | undefined }
  | {
      readonly event: 'segment_accepted';
      readonly segmentId: string;
      readonly reservedUnits: number | undefined;
    }
  | {
      readonly event: 'audio';
      readonly segmentId: string | undefined;
      readonly sequence: number;
      readonly audio: Uint8Array;
    }
  | {
      readonly event: 'usage';
      readonly sessionUnits: number | undefined;
      readonly quotaRemaining: number | undefined;
      /** Credits that the service says it charged for the request so far. */
      readonly creditsUsed: number | undefined;
      readonly audioBytes: number | undefined;
    }
  | {
      readonly event: 'segment_completed';
      readonly segmentId: string;
      readonly audioBytes: number | undefined;
    }
  | { readonly event: 'request_status'; readonly facts: RequestFacts }
  | { readonly event: 'warning'; readonly code: string; readonly message: string }
  | {
      readonly event: 'error';
      readonly code: string;
      readonly message: string;
      readonly isRetryable: boolean;
    }
  | { readonly event: 'finish'; readonly reason: FinishReason; readonly units: number | undefined };

/**
 * Reads a message of the service; undefined is an event of a name that a client does not know, which a
 * service may add.
 * @throws UnreadableFrame
 */
export function readServerMessage(fields: FrameMessage): HeardMessage | undefined {
  const { event } = fields;
  switch (event) {
    case 'authenticated':
    case 'pong':
      return { event };
    case 'ready':
      return { event, fields };
    case 'input_ack':
      return { event, acceptedSequence: count(fields['acceptedSequence']) };
    case 'audio':
      return audioOf(fields);
    case 'warning':
      return { event, code: text(fields, 'code'), message: words(fields['message']) };
    case 'error':
      return {
        event,
        code: text(fields, 'code'),
        message: words(fields['message']),
        isRetryable: fields['retryable'] === true,
      };
    case 'finish':
      return {
        event,
        reason: oneOf(fields, 'reason', FINISH_REASONS),
        units: units(fields['units']),
      };
    case 'request_status':
      return { event, facts: readRequestFacts(fields) };
    default:
      return segmentMessage(fields);
  }
}

function segmentMessage(fields: FrameMessage): HeardMessage | undefined {
  const { event } = fields;
  if (event === 'segment_accepted') {
    const reservedUnits = units(fields['reservedUnits']);
    return { event, segmentId: text(fields, 'segmentId'), reservedUnits };
  }
  if (event === 'segment_completed') {
    const audioBytes = count(fields['audioBytes']);
    return { event, segmentId: text(fields, 'segmentId'), audioBytes };
  }
  if (event === 'usage') {
    const { creditsUsed, sessionUnits, quotaRemaining } = fields;
    return {
      event,
      sessionUnits: units(sessionUnits),
      quotaRemaining: units(quotaRemaining),
      creditsUsed: units(creditsUsed),
      audioBytes: count(fields['audioBytes']),
    };
  }
  return undefined;
}

/**
 * What is known of a request: the fields of `request_status`, or the body of its resource over HTTP.
 * @throws UnreadableFrame
 */
export function readRequestFacts(fields: Readonly<Record<string, unknown>>): RequestFacts {
  const { segments = [] } = fields;
  if (!Array.isArray(segments)) throw new UnreadableFrame('its segments are no list');
  return {
    state: oneOf(fields, 'state', REQUEST_STATES),
    units: units(fields['units']),
    segments: segments.map((segment: unknown) => segmentFacts(segment)),
  };
}

function segmentFacts(segment: unknown): SegmentFacts {
  if (!isFields(segment)) throw new UnreadableFrame('a segment in it is no map');
  const { state = 'completed' } = segment;
  return {
    segmentId: text(segment, 'segmentId'),
    isStored: state === 'completed',
    characters: count(segment['characters']),
    audioBytes: count(segment['audioBytes']),
  };
}

function audioOf(fields: FrameMessage): HeardMessage {
  const { audio, sequence, segmentId } = fields;
  const number = count(sequence);
  if (!(audio instanceof Uint8Array)) throw new UnreadableFrame('its audio is not binary');
  if (number === undefined) throw new UnreadableFrame('its audio has no sequence');
  const ofSegment = typeof segmentId === 'string' ? segmentId : undefined;
  return { event: 'audio', segmentId: ofSegment, sequence: number, audio };
}

function text(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new UnreadableFrame(`it has no ${name}`);
}

function oneOf<Word extends string>(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  allowed: readonly Word[],
): Word {
  const found = allowed.find((word) => word === fields[name]);
  if (found !== undefined) return found;
  throw new UnreadableFrame(`its ${name} is not one of ${allowed.join(', ')}`);
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function units(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
