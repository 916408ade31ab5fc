import type { Behaviour } from './behaviour.ts';
import { account } from './behaviours/account.ts';
import { aligned } from './behaviours/aligned.ts';
import { compat } from './behaviours/compat.ts';
import { documents } from './behaviours/documents.ts';
import { idempotency } from './behaviours/idempotency.ts';
import { jobFields } from './behaviours/job-fields.ts';
import { jobLists } from './behaviours/job-lists.ts';
import { jobStates } from './behaviours/job-states.ts';
import { jobs } from './behaviours/jobs.ts';
import { madeVoices } from './behaviours/made-voices.ts';
import { limits } from './behaviours/limits.ts';
import { ours } from './behaviours/ours.ts';
import { mediaFields } from './behaviours/media-fields.ts';
import { media } from './behaviours/media.ts';
import { pictureFields } from './behaviours/picture-fields.ts';
import { pictures } from './behaviours/pictures.ts';
import { realtimeConversations } from './behaviours/realtime/conversations.ts';
import { realtimeErrors } from './behaviours/realtime/errors.ts';
import { realtimeHandshake } from './behaviours/realtime/handshake.ts';
import { realtimeHttp } from './behaviours/realtime/http.ts';
import { realtimeMessages } from './behaviours/realtime/messages.ts';
import { realtimeParameters } from './behaviours/realtime/parameters.ts';
import { realtimeResuming } from './behaviours/realtime/resuming.ts';
import { speechBodies } from './behaviours/speech-bodies.ts';
import { speechControls } from './behaviours/speech-controls.ts';
import { speech } from './behaviours/speech.ts';
import { voiceDesignFields } from './behaviours/voice-design-fields.ts';
import { voiceDesigns } from './behaviours/voice-designs.ts';
import { voiceFields } from './behaviours/voice-fields.ts';
import { voiceUploadFields } from './behaviours/voice-upload-fields.ts';
import { voices } from './behaviours/voices.ts';

/** Speech at once: half of the work, so that both halves can be asked side by side. */
export const SPEECH_BEHAVIOURS: readonly Behaviour[] = [
  ...speechBodies,
  ...speech,
  ...speechControls,
];

/** Everything else. */
export const SERVICE_BEHAVIOURS: readonly Behaviour[] = [
  ...account,
  ...documents,
  ...voiceFields,
  ...voices,
  ...voiceUploadFields,
  ...madeVoices,
  ...voiceDesignFields,
  ...voiceDesigns,
  ...aligned,
  ...jobFields,
  ...jobs,
  ...jobLists,
  ...jobStates,
  ...compat,
  ...idempotency,
  ...limits,
  ...ours,
];

/** Lip sync and dubbing. */
export const MEDIA_BEHAVIOURS: readonly Behaviour[] = [...mediaFields, ...media];

/** Images and videos. */
export const PICTURE_BEHAVIOURS: readonly Behaviour[] = [...pictureFields, ...pictures];

/** Realtime speech, over sockets. */
export const REALTIME_BEHAVIOURS: readonly Behaviour[] = [
  ...realtimeHttp,
  ...realtimeHandshake,
  ...realtimeConversations,
  ...realtimeMessages,
  ...realtimeErrors,
  ...realtimeParameters,
  ...realtimeResuming,
];

/** The spec as a list of behaviours. */
export const BEHAVIOURS: readonly Behaviour[] = [
  ...SERVICE_BEHAVIOURS,
  ...SPEECH_BEHAVIOURS,
  ...MEDIA_BEHAVIOURS,
  ...PICTURE_BEHAVIOURS,
  ...REALTIME_BEHAVIOURS,
];
