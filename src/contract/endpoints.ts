import { ACCOUNT_ENDPOINTS, DOCUMENT_ENDPOINTS } from './account.ts';
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

/** Every HTTP endpoint that the service has, in the order of its OpenAPI document. What needs no schema goes by `generated/endpoints.ts`. */
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
] as const;
