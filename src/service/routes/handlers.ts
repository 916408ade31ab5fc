import { getCachedAudio } from './answer-cached.ts';
import type { AccountHandlers, PublicHandlers } from './call.ts';
import { createDubbing, getDubbing } from './dubbing.ts';
import {
  createLipSync,
  createLipSyncLegacy,
  getLipSync,
  getLipSyncLegacy,
  listLipSync,
} from './lip-sync.ts';
import { getMediaFile } from './media-file.ts';
import { getMediaModels } from './media-models.ts';
import { createImageJob, createVideoJob, getImageJob, getVideoJob } from './picture-jobs.ts';
import { getCapabilities } from './capabilities.ts';
import { getHealth } from './health.ts';
import { getJobAudio, getJobSegment, getSignedAudio, getTaskAudio } from './job-audio.ts';
import { createJobV1, getJobV1, listJobsV1 } from './jobs-v1.ts';
import { createJob, getJob, listJobs } from './jobs.ts';
import { getOpenApi } from './openapi.ts';
import { getProfile, updateProfile } from './profile.ts';
import { realtimeHandler, refuseRealtime, refuseRealtimeV1 } from './realtime-handlers.ts';
import { createAlignedSpeech } from './speech-aligned.ts';
import {
  createCompatSpeech,
  createCompatTts,
  getCompatModel,
  listCompatModels,
  listCompatVoices,
} from './speech-compat.ts';
import { createSpeechV1 } from './speech-v1.ts';
import { createSpeechV2 } from './speech-v2.ts';
import { createSpeech } from './speech.ts';
import { listVoicesByPost, listVoicesV1 } from './voices-v1.ts';
import { saveVoiceDesign } from './save-voice-design.ts';
import { deleteModel, deleteVoice } from './voice-deletion.ts';
import { createVoiceDesign, getCandidateAudio } from './voice-designs.ts';
import { createVoice, createVoiceV3 } from './voice-upload.ts';
import { getVoice, listVoices } from './voices.ts';

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
