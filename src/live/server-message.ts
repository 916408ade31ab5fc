import type { UnknownRecord } from '../api/response.ts';
import { firstNumber, firstText, isRecord } from '../api/response.ts';
import { FINISH_REASONS, REQUEST_STATES } from '../contract/realtime/protocols.ts';
import type { FinishReason, RequestState } from '../contract/realtime/protocols.ts';
import type { CodePointRange } from '../contract/unspoken.ts';
import { parseRanges } from '../contract/unspoken.ts';
import { UnreadableFrame } from '../realtime/frames.ts';
import type { FrameMessage } from '../realtime/frames.ts';

interface UnspokenRange extends CodePointRange {
  readonly text?: string;
}

/** The status of a request, from a `request_status` message or an HTTP response. */
export interface RequestStatus {
  readonly state: RequestState;
  /** Billing units charged for the request so far. */
  readonly units?: number | undefined;
  readonly segments: readonly SegmentStatusMessage[];
}

export interface SegmentStatusMessage {
  readonly segmentId: string;
  readonly isStored: boolean;
  readonly characters: number | undefined;
  readonly audioBytes: number | undefined;
}

/** A message from the service, reduced to the fields that the client uses (docs/api/realtime.md). */
export type ReceivedFrame =
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
      readonly segmentId: string | undefined;
      readonly sessionUnits: number | undefined;
      readonly quotaRemaining: number | undefined;
      /** Credits charged for the request so far. */
      readonly creditsUsed: number | undefined;
      readonly audioBytes: number | undefined;
    }
  | {
      readonly event: 'segment_completed';
      readonly segmentId: string;
      readonly audioBytes: number | undefined;
    }
  | { readonly event: 'request_status'; readonly status: RequestStatus }
  | {
      readonly event: 'warning';
      readonly code: string;
      readonly message: string;
      readonly segmentId?: string | undefined;
      /** Parts of the segment's text that the voice did not speak. */
      readonly unspoken?: readonly UnspokenRange[];
    }
  | {
      readonly event: 'error';
      readonly code: string;
      readonly message: string;
      readonly isRetryable: boolean;
      /** False if the session goes on after the error. */
      readonly isTerminal: boolean;
      /** `eventId` of the client's message that the error refuses; undefined if the error is no reply. */
      readonly inReplyTo: string | undefined;
      /** The stage that failed. Foley's own service sends `storage` if its disk is full. */
      readonly stage?: string | undefined;
    }
  | { readonly event: 'finish'; readonly reason: FinishReason; readonly units: number | undefined };

/**
 * Validates a message from the service. Returns undefined for an unknown event.
 * @throws UnreadableFrame for invalid fields
 */
export function readServerMessage(fields: FrameMessage): ReceivedFrame | undefined {
  const { event } = fields;
  switch (event) {
    case 'authenticated':
    case 'pong':
      return { event };
    case 'ready':
      return { event, fields };
    case 'input_ack':
      return { event, acceptedSequence: count(fields['acceptedSequence']) };
    case 'segment_accepted': {
      const reservedUnits = firstNumber(fields['reservedUnits']);
      return { event, segmentId: requireText(fields, 'segmentId'), reservedUnits };
    }
    case 'audio': {
      const { audio, segmentId } = fields;
      const sequence = count(fields['sequence']);
      if (!(audio instanceof Uint8Array)) throw new UnreadableFrame('audio is not binary');
      if (sequence === undefined) throw new UnreadableFrame('the audio has no sequence');
      return { event, segmentId: firstText(segmentId), sequence, audio };
    }
    case 'usage':
      return {
        event,
        segmentId: firstText(fields['segmentId']),
        sessionUnits: firstNumber(fields['sessionUnits']),
        quotaRemaining: firstNumber(fields['quotaRemaining']),
        creditsUsed: firstNumber(fields['creditsUsed']),
        audioBytes: count(fields['audioBytes']),
      };
    case 'segment_completed': {
      const audioBytes = count(fields['audioBytes']);
      return { event, segmentId: requireText(fields, 'segmentId'), audioBytes };
    }
    case 'request_status':
      return { event, status: readRequestStatus(fields) };
    case 'warning': {
      const message = firstText(fields['message']) ?? '';
      const code = firstText(fields['code']) ?? 'warning';
      const { segmentId, unspoken } = fields;
      const ranges = typeof unspoken === 'string' ? parseRanges(unspoken) : undefined;
      if (ranges === undefined) return { event, code, message };
      return { event, code, message, segmentId: firstText(segmentId), unspoken: ranges };
    }
    case 'error': {
      const message = firstText(fields['message']) ?? '';
      return {
        event,
        code: requireText(fields, 'code'),
        message,
        isRetryable: fields['retryable'] === true,
        isTerminal: fields['terminal'] !== false,
        inReplyTo: firstText(fields['inReplyTo']),
        stage: firstText(fields['stage']),
      };
    }
    case 'finish': {
      const reason = oneOf(fields, 'reason', FINISH_REASONS);
      return { event, reason, units: firstNumber(fields['units']) };
    }
    default:
      return undefined;
  }
}

/**
 * Validates the status of a request, from a `request_status` message or an HTTP response.
 * @throws UnreadableFrame for invalid fields
 */
export function readRequestStatus(fields: UnknownRecord): RequestStatus {
  const segments = fields['segments'] ?? [];
  if (!Array.isArray(segments)) throw new UnreadableFrame('segments is not a list');
  return {
    state: oneOf(fields, 'state', REQUEST_STATES),
    units: firstNumber(fields['units']),
    segments: segments.map((segment: unknown) => {
      if (!isRecord(segment)) throw new UnreadableFrame('a segment is not a map');
      const state = segment['state'] ?? 'completed';
      return {
        segmentId: requireText(segment, 'segmentId'),
        isStored: state === 'completed',
        characters: count(segment['characters']),
        audioBytes: count(segment['audioBytes']),
      };
    }),
  };
}

function requireText(fields: UnknownRecord, name: string): string {
  const value = firstText(fields[name]);
  if (value === undefined) throw new UnreadableFrame(`${name} is missing`);
  return value;
}

function oneOf<Word extends string>(
  fields: UnknownRecord,
  name: string,
  allowed: readonly Word[],
): Word {
  const found = allowed.find((word) => word === fields[name]);
  if (found !== undefined) return found;
  throw new UnreadableFrame(`${name} is not one of ${allowed.join(', ')}`);
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
