import { MEDIA_ENDPOINTS } from './media-endpoints.ts';
import { PICTURE_ENDPOINTS } from './picture-endpoints.ts';
import { REALTIME_ENDPOINTS } from './realtime/endpoints.ts';
import { VOICE_ENDPOINTS } from './voice-endpoints.ts';

/** Every HTTP endpoint that the service has: one table for its router, its OpenAPI document and the client. */

export type Surface = 'http-v3' | 'http-v2' | 'http-v1' | 'compat' | 'realtime' | 'operations';

export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path from the base URL; `{name}` is a path parameter. */
  readonly path: string;
  readonly surface: Surface;
  /** Needs no API key. */
  readonly public: boolean;
  /** Section of the spec that defines it; `ours` where it is an addition of this service. */
  readonly section: string;
  /**
   * What an identical request under the same idempotency key gets, where the endpoint takes a key (spec section 7.2):
   * the first one's result, also while that is being made, or a refusal.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
}

export const ENDPOINTS = [
  {
    id: 'getCapabilities',
    method: 'GET',
    path: '/api/open/v3/speech/tts/capabilities',
    surface: 'http-v3',
    public: true,
    section: '4.1',
  },
  {
    id: 'getOpenApi',
    method: 'GET',
    path: '/api/open/v3/openapi.json',
    surface: 'http-v3',
    public: true,
    section: '4.1',
  },
  {
    id: 'createSpeech',
    method: 'POST',
    path: '/api/open/v3/speech/tts',
    surface: 'http-v3',
    public: false,
    section: '4.1',
    repeat: 'refuse',
  },
  {
    id: 'createAlignedSpeech',
    method: 'POST',
    path: '/api/open/v3/speech/tts/aligned',
    surface: 'http-v3',
    public: false,
    section: '6.1',
    repeat: 'refuse',
  },
  {
    id: 'createSpeechV2',
    method: 'POST',
    path: '/api/open/v2/speech/tts',
    surface: 'http-v2',
    public: false,
    section: '4.2',
    repeat: 'refuse',
  },
  {
    id: 'createSpeechV1',
    method: 'POST',
    path: '/api/open/v1/speech/tts',
    surface: 'http-v1',
    public: false,
    section: '4.3',
    repeat: 'refuse',
  },
  {
    id: 'getCachedAudio',
    method: 'GET',
    path: '/api/open/tts/cached/{audioId}',
    surface: 'http-v1',
    public: true,
    section: 'ours',
  },
  {
    id: 'createCompatTts',
    method: 'POST',
    path: '/v1/tts',
    surface: 'compat',
    public: false,
    section: '4.4',
  },
  {
    id: 'createCompatSpeech',
    method: 'POST',
    path: '/v1/audio/speech',
    surface: 'compat',
    public: false,
    section: '4.4',
  },
  {
    id: 'listCompatVoices',
    method: 'GET',
    path: '/v1/audio/voices',
    surface: 'compat',
    public: false,
    section: '4.4',
  },
  {
    id: 'listCompatModels',
    method: 'GET',
    path: '/v1/models',
    surface: 'compat',
    public: false,
    section: 'ours',
  },
  {
    id: 'getCompatModel',
    method: 'GET',
    path: '/v1/models/{modelId}',
    surface: 'compat',
    public: false,
    section: 'ours',
  },
  {
    id: 'getOpenApiV1',
    method: 'GET',
    path: '/api/openapi.json',
    surface: 'http-v1',
    public: false,
    section: '4.9',
  },
  {
    id: 'createJob',
    method: 'POST',
    path: '/api/open/v3/speech/tts/jobs',
    surface: 'http-v3',
    public: false,
    section: '4.1',
    repeat: 'replay',
  },
  {
    id: 'listJobs',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs',
    surface: 'http-v3',
    public: false,
    section: '4.1',
  },
  {
    id: 'getJob',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs/{jobId}',
    surface: 'http-v3',
    public: false,
    section: '4.1',
  },
  {
    id: 'getJobAudio',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs/{jobId}/audio',
    surface: 'http-v3',
    public: false,
    section: '4.1',
  },
  {
    id: 'getJobSegment',
    method: 'GET',
    path: '/api/open/v3/speech/tts/jobs/{jobId}/segments/{segmentIndex}',
    surface: 'http-v3',
    public: false,
    section: '4.1',
  },
  {
    id: 'createJobV1',
    method: 'POST',
    path: '/api/open/v1/speech/tts/jobs',
    surface: 'http-v1',
    public: false,
    section: '4.3',
    repeat: 'replay',
  },
  {
    id: 'listJobsV1',
    method: 'GET',
    path: '/api/open/v1/speech/tts/jobs',
    surface: 'http-v1',
    public: false,
    section: '4.3',
  },
  {
    id: 'getJobV1',
    method: 'GET',
    path: '/api/open/v1/speech/tts/jobs/{taskId}',
    surface: 'http-v1',
    public: false,
    section: '4.3',
  },
  {
    id: 'getTaskAudio',
    method: 'GET',
    path: '/api/open/tts/jobs/{taskId}/audio',
    surface: 'http-v1',
    public: false,
    section: '4.3',
  },
  {
    id: 'getSignedAudio',
    method: 'GET',
    path: '/api/open/tts/audio/{taskId}',
    surface: 'http-v1',
    public: true,
    section: 'ours',
  },
  ...VOICE_ENDPOINTS,
  ...MEDIA_ENDPOINTS,
  ...PICTURE_ENDPOINTS,
  ...REALTIME_ENDPOINTS,
  {
    id: 'getProfile',
    method: 'GET',
    path: '/api/open/v1/profile',
    surface: 'http-v1',
    public: false,
    section: '4.9',
  },
  {
    id: 'updateProfile',
    method: 'POST',
    path: '/api/open/v1/profile',
    surface: 'http-v1',
    public: false,
    section: '4.9',
  },
  {
    id: 'getHealth',
    method: 'GET',
    path: '/healthz',
    surface: 'operations',
    public: true,
    section: 'ours',
  },
] as const satisfies readonly Endpoint[];

/** Whether clients of the OpenAI interface request this path: they read an error's fields from `error`. */
export function isOpenAiPath(path: string): boolean {
  return /^\/v1\/(?!tts(?:\/|$))/.test(path);
}

type Entry = (typeof ENDPOINTS)[number];
export type EndpointId = Entry['id'];
export type PublicEndpointId = Extract<Entry, { public: true }>['id'];
export type AccountEndpointId = Exclude<EndpointId, PublicEndpointId>;
