import { Check } from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import type { RealtimeErrorCode } from '../../src/contract/realtime/errors.ts';
import type { ServerMessage } from '../../src/contract/realtime/server-messages.ts';
import { SERVER_MESSAGES } from '../../src/contract/realtime/server-messages.ts';
import { decodeFrame, encodeFrame } from '../../src/realtime/frames.ts';
import { readServerMessage } from '../../src/live/server-message.ts';

const code: RealtimeErrorCode = 'provider_timeout';
const every = { eventId: 'e', traceId: 't', timestamp: 1, inReplyTo: 'c' };
const ids = { requestId: 'r', sessionId: 's' };
const samples = { sampleRate: 24_000, channels: 1, bitDepth: 16 };
const request = { voiceId: 'v', modelId: 'm', chunkLength: 50 };
const pcm = { ...request, format: 'pcm', ...samples } as const;
const ready = { event: 'ready', ...every, ...ids, ...pcm, mode: 'reliable' } as const;
const segment = { requestId: 'r', segmentId: 's1' };

/** One of each, with all that it may have. */
const MESSAGES: readonly ServerMessage[] = [
  { event: 'authenticated', ...every, sessionId: 's', site: 'x', protocolVersion: 'v3', quota: 1 },
  {
    event: 'input_ack',
    ...every,
    requestId: 'r',
    acceptedSequence: 1,
    acceptedCharacters: 5,
    bufferedCharacters: 5,
    remainingCapacity: 9_995,
  },
  { event: 'segment_accepted', ...every, ...segment, segmentCharacters: 5, reservedUnits: 5 },
  {
    event: 'audio',
    ...every,
    ...ids,
    segmentId: 's1',
    sequence: 1,
    audio: Uint8Array.of(0, 255),
    format: 'pcm',
    ...samples,
  },
  {
    event: 'usage',
    ...every,
    ...segment,
    segmentUnits: 5,
    sessionUnits: 5,
    quotaRemaining: 9,
    audioBytes: 2,
  },
  { event: 'segment_completed', ...every, ...segment, segmentUnits: 5, audioBytes: 2 },
  {
    event: 'request_status',
    ...every,
    requestId: 'r',
    state: 'failed_retryable',
    retryable: true,
    units: 5,
    resultAvailable: true,
    segments: [{ segmentId: 's1', state: 'completed', characters: 5, audioBytes: 2 }],
  },
  { event: 'warning', ...every, requestId: 'r', code: 'ignored', message: 'pitch is ignored' },
  { event: 'error', ...every, ...ids, code, message: 'no', retryable: true, terminal: true },
  { event: 'finish', ...every, ...ids, reason: 'completed', units: 5 },
  { event: 'pong', ...every, ...ids },
];

describe.each(['v2', 'v3'] as const)('on %s', (protocol) => {
  const own: ServerMessage =
    protocol === 'v2'
      ? {
          ...ready,
          provider: 'p',
          effectiveRequest: { ...request, parameterProfile: 'product_v1' },
        }
      : { ...ready, protocolVersion: 'v3', effectiveRequest: request, warnings: [] };

  test.each([own, ...MESSAGES])(
    '$event goes over the wire, and a client understands it',
    (sent) => {
      const came = decodeFrame(encodeFrame(sent, protocol), protocol);
      expect(came).toEqual(sent);
      expect(Check(SERVER_MESSAGES[protocol][sent.event], came)).toBe(true);
      expect(readServerMessage(came)).toMatchObject({ event: sent.event });
    },
  );
});

test('what a client needs is read, and not only its name', () => {
  const heard = MESSAGES.map((message) => readServerMessage(message));
  expect(heard).toContainEqual({ event: 'input_ack', acceptedSequence: 1 });
  expect(heard).toContainEqual({ event: 'segment_completed', segmentId: 's1', audioBytes: 2 });
  expect(heard).toContainEqual({
    event: 'error',
    code,
    message: 'no',
    isRetryable: true,
    isTerminal: true,
    inReplyTo: every.inReplyTo,
  });
  expect(heard).toContainEqual({
    event: 'request_status',
    status: {
      state: 'failed_retryable',
      units: 5,
      segments: [{ segmentId: 's1', isStored: true, characters: 5, audioBytes: 2 }],
    },
  });
});

test.each([
  [{ event: 'audio', sequence: 1 }, 'audio is not binary'],
  [{ event: 'audio', sequence: -1, audio: Uint8Array.of() }, 'the audio has no sequence'],
  [{ event: 'finish', reason: 'tired' }, 'reason is not one of'],
  [{ event: 'request_status', state: 'resting' }, 'state is not one of'],
  [{ event: 'request_status', state: 'running', segments: {} }, 'segments is not a list'],
  [{ event: 'segment_completed' }, 'segmentId is missing'],
  [{ event: 'error', message: 'no' }, 'code is missing'],
])('%o is not read', (message, problem) => {
  expect(() => readServerMessage(message)).toThrow(problem);
});

test('an event of another name is passed over', () => {
  expect(readServerMessage({ event: 'applause' })).toBeUndefined();
});
