import { ACCOUNT_ENDPOINTS, DOCUMENT_ENDPOINTS, SERVICE_ENDPOINTS } from './account.ts';
import { JOB_ENDPOINTS } from './jobs.ts';
import { LIP_SYNC_ENDPOINTS } from './lip-sync.ts';
import { MEDIA_ENDPOINTS } from './media.ts';
import { MODEL_ENDPOINTS } from './models.ts';
import { OTHER_CLIENT_ENDPOINTS } from './other-clients.ts';
import { REALTIME_ENDPOINTS } from './realtime.ts';
import { SPEECH_ENDPOINTS } from './speech.ts';
import { VOICE_DESIGN_ENDPOINTS } from './voice-design.ts';
import { VOICE_ENDPOINTS } from './voices.ts';

const [getOpenApi, getOpenApiV1] = DOCUMENT_ENDPOINTS;

/** Every HTTP endpoint of the service, in the order of the OpenAPI document. */
export const DEFINITIONS = [
  ...MODEL_ENDPOINTS,
  getOpenApi,
  ...SPEECH_ENDPOINTS,
  ...OTHER_CLIENT_ENDPOINTS,
  getOpenApiV1,
  ...JOB_ENDPOINTS,
  ...VOICE_ENDPOINTS,
  ...VOICE_DESIGN_ENDPOINTS,
  ...LIP_SYNC_ENDPOINTS,
  ...MEDIA_ENDPOINTS,
  ...REALTIME_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...SERVICE_ENDPOINTS,
] as const;

/** The tags of the OpenAPI document and their endpoints. */
export const TAGS = {
  Speech: {
    description: 'Speech from text, in one response or as jobs',
    endpoints: [...MODEL_ENDPOINTS, ...SPEECH_ENDPOINTS, ...JOB_ENDPOINTS],
  },
  Voices: {
    description: 'Voices for text-to-speech',
    endpoints: [...VOICE_ENDPOINTS, ...VOICE_DESIGN_ENDPOINTS],
  },
  Realtime: {
    description: 'Realtime speech over a WebSocket, and the state of realtime requests',
    endpoints: REALTIME_ENDPOINTS,
  },
  Media: {
    description: 'Jobs for lip sync, dubbing, images and videos',
    endpoints: [...LIP_SYNC_ENDPOINTS, ...MEDIA_ENDPOINTS],
  },
  Account: {
    description: 'Credits, quota and settings of the account that an API key belongs to',
    endpoints: ACCOUNT_ENDPOINTS,
  },
  Compatibility: {
    description:
      'Endpoints that accept requests in the formats of OpenAI and of one other speech API',
    endpoints: OTHER_CLIENT_ENDPOINTS,
  },
  Service: {
    description: 'State and description of the service',
    endpoints: [...DOCUMENT_ENDPOINTS, ...SERVICE_ENDPOINTS],
  },
} as const;
