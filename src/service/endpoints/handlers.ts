import { realtimeV1, upgradeRequired } from '../realtime/admission.ts';
import type { AccountCall, Handler, AccountHandlers, PublicHandlers } from './call.ts';
import { getCapabilities, getHealth, getOpenApi, getProfile, updateProfile } from './account.ts';
import { getJobAudio, getJobSegment, getSignedAudio, getTaskAudio } from './job-audio.ts';
import { createJobV1, getJobV1, listJobsV1, createJob, getJob, listJobs } from './jobs.ts';
import {
  createDubbing,
  getDubbing,
  createLipSync,
  createLipSyncLegacy,
  getLipSync,
  getLipSyncLegacy,
  listLipSync,
} from './lip-sync.ts';
import {
  getMediaFile,
  getMediaModels,
  createImageJob,
  createVideoJob,
  getImageJob,
  getVideoJob,
} from './media.ts';
import {
  createCompatSpeech,
  createCompatTts,
  getCompatModel,
  listCompatModels,
  listCompatVoices,
} from './other-clients.ts';
import type * as routes from './realtime.ts';
import {
  getCachedAudio,
  createAlignedSpeech,
  createSpeechV1,
  createSpeechV2,
  createSpeech,
} from './speech.ts';
import { saveVoiceDesign, createVoiceDesign, getCandidateAudio } from './voice-designs.ts';
import {
  listVoicesByPost,
  listVoicesV1,
  deleteModel,
  deleteVoice,
  createVoice,
  createVoiceV3,
  getVoice,
  listVoices,
} from './voices.ts';

type Routes = typeof routes;

/** A handler of realtime speech; what it needs is loaded with the first request, as few processes have one. */
function realtimeHandler(pick: (routes: Routes) => Handler<AccountCall>): Handler<AccountCall> {
  return async (call, context) => pick(await import('./realtime.ts'))(call, context);
}

/** The address of the WebSocket, asked for as a document (docs/api/realtime.md). */
const refuseRealtime: Handler<AccountCall> = () => {
  throw upgradeRequired();
};

/** Version 1 of realtime speech is not described (docs/api/versions.md). */
const refuseRealtimeV1: Handler = () => {
  throw realtimeV1();
};

/** Handlers of the endpoints that need no key. */
export const PUBLIC_HANDLERS: PublicHandlers = {
  getCachedAudio,
  getCapabilities,
  getHealth,
  getMediaFile,
  getOpenApi,
  getSignedAudio,
  openRealtimeV1: refuseRealtimeV1,
};

/** Handlers of the endpoints that need one. */
export const ACCOUNT_HANDLERS: AccountHandlers = {
  createAlignedSpeech,
  createCompatSpeech,
  createCompatTts,
  createJob,
  createJobV1,
  createDubbing,
  createImageJob,
  createLipSync,
  createLipSyncLegacy,
  createVideoJob,
  createSpeech,
  createSpeechV1,
  createSpeechV2,
  createModel: createVoice,
  createVoice,
  createVoiceDesign,
  createVoiceV3,
  deleteModel,
  deleteVoice,
  deleteVoiceV3: deleteVoice,
  getCandidateAudio,
  getCompatModel,
  saveVoiceDesign,
  getOpenApiV1: getOpenApi,
  getJob,
  getJobAudio,
  getJobSegment,
  getJobV1,
  getDubbing,
  getImageJob,
  getLipSync,
  getLipSyncLegacy,
  getMediaModels,
  getVideoJob,
  getProfile,
  getTaskAudio,
  getVoice,
  listCompatModels,
  listCompatVoices,
  listJobs,
  listJobsV1,
  listLipSync,
  listLipSyncLegacy: listLipSync,
  listVoices,
  listVoicesByPost,
  listVoicesV1,
  openRealtimeV2: refuseRealtime,
  openRealtimeV3: refuseRealtime,
  createBrowserTicket: realtimeHandler((routes) => routes.createBrowserTicket('v3')),
  createBrowserTicketV2: realtimeHandler((routes) => routes.createBrowserTicket('v2')),
  getRealtimeCapabilities: realtimeHandler((routes) => routes.getRealtimeCapabilities('v3')),
  getRealtimeCapabilitiesV2: realtimeHandler((routes) => routes.getRealtimeCapabilities('v2')),
  getRealtimeRequest: realtimeHandler((routes) => routes.getRealtimeRequest('v3')),
  getRealtimeRequestV2: realtimeHandler((routes) => routes.getRealtimeRequest('v2')),
  getRealtimeSegment: realtimeHandler(({ getRealtimeSegment }) => getRealtimeSegment),
  updateProfile,
};
