import { realtimeV1, upgradeRequired } from '../realtime/admission.ts';
import * as account from './account.ts';
import { getOpenApi } from './account.ts';
import type { Handlers } from './call.ts';
import * as jobs from './jobs.ts';
import * as lipSync from './lip-sync.ts';
import { createLipSync, listLipSync } from './lip-sync.ts';
import * as media from './media.ts';
import * as otherClients from './other-clients.ts';
import * as speech from './speech.ts';
import * as voiceDesigns from './voice-designs.ts';
import * as voices from './voices.ts';
import { createVoice, deleteVoice } from './voices.ts';

/** Loads the handlers of realtime speech with the first request: few processes have one. */
const realtime = () => import('./realtime.ts');

/** Answers a plain request to the address of the WebSocket (docs/api/realtime.md). */
const refuseRealtime = (): never => {
  throw upgradeRequired();
};

/** The handler of every endpoint: each section exports its handlers under the ids of their endpoints. */
export const HANDLERS: Handlers = {
  ...account,
  ...jobs,
  ...lipSync,
  ...media,
  ...otherClients,
  ...speech,
  ...voiceDesigns,
  ...voices,
  createModel: createVoice,
  deleteVoiceV3: deleteVoice,
  getOpenApiV1: getOpenApi,
  createLipSyncLegacy: createLipSync,
  listLipSyncLegacy: listLipSync,
  openRealtimeV1() {
    throw realtimeV1();
  },
  openRealtimeV2: refuseRealtime,
  openRealtimeV3: refuseRealtime,
  createBrowserTicket: async (...of) => (await realtime()).createBrowserTicket('v3', ...of),
  createBrowserTicketV2: async (...of) => (await realtime()).createBrowserTicket('v2', ...of),
  getRealtimeCapabilities: async (...of) => (await realtime()).getCapabilities('v3', ...of),
  getRealtimeCapabilitiesV2: async (...of) => (await realtime()).getCapabilities('v2', ...of),
  getRealtimeRequest: async (...of) => (await realtime()).getRequest('v3', ...of),
  getRealtimeRequestV2: async (...of) => (await realtime()).getRequest('v2', ...of),
  getRealtimeSegment: async (...of) => (await realtime()).getSegment(...of),
};
