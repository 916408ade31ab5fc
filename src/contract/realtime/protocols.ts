/** What the two versions of realtime speech are called and where they are (spec section 4.10). Paths are those of the realtime host. */
export const REALTIME_PROTOCOLS = {
  v2: {
    subprotocol: 'realtime.tts.msgpack.v2',
    livePath: '/v2/tts/live',
    capabilitiesPath: '/v2/tts/capabilities',
    browserTicketsPath: '/v2/tts/browser-tickets',
    requestPath: '/v2/tts/requests/{requestId}',
  },
  v3: {
    subprotocol: 'realtime.tts.msgpack.v3',
    livePath: '/v3/tts/live',
    capabilitiesPath: '/v3/tts/capabilities',
    browserTicketsPath: '/v3/tts/browser-tickets',
    requestPath: '/v3/tts/requests/{requestId}',
    /** Only v3 keeps the audio of a segment. */
    segmentAudioPath: '/v3/tts/requests/{requestId}/segments/{segmentId}/audio',
  },
} as const;
export type RealtimeProtocol = keyof typeof REALTIME_PROTOCOLS;

export const REALTIME_MODES = ['simple', 'reliable'] as const;
export type RealtimeMode = (typeof REALTIME_MODES)[number];

export const REALTIME_FORMATS = ['mp3', 'wav', 'opus', 'pcm'] as const;
export type RealtimeFormat = (typeof REALTIME_FORMATS)[number];

/** `legacy` is what a v2 `start` has that names none: strict. `product_v1` clamps, ignores and tells. */
export const PARAMETER_PROFILES = ['legacy', 'product_v1'] as const;

/** States of a reliable request (spec section 3.2). */
export const REQUEST_STATES = [
  'running',
  'completed',
  'failed_retryable',
  'failed_terminal',
] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** Why a session ends (spec section 3.3). */
export const FINISH_REASONS = ['completed', 'error', 'timeout', 'server_draining'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];
