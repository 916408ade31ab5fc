import { Type } from 'typebox';
import type { Static } from 'typebox';
import { LipSyncJob, MEDIA_ENVELOPE, MediaAddress } from './lip-sync.ts';
import { MEDIA_JOB_FIELDS } from './media-job.ts';
import { SpeechRequest } from './speech.ts';

const { text, voiceId, modelId, speed, language } = SpeechRequest.properties;

/** Body of `POST /media/video-dubbing/jobs` (docs/api/lip-sync.md). What it does not know it does not refuse. */
export const DubbingRequest = Type.Object(
  {
    video_url: MediaAddress,
    text,
    reference_id: voiceId,
    model_id: modelId,
    speed,
    language,
    fit_audio_to_video: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Speak faster or slower, 0.5x to 2x, so that it ends with the video',
      }),
    ),
  },
  { $id: 'DubbingRequest' },
);
export type DubbingRequest = Static<typeof DubbingRequest>;

/** What a dubbing cost, by its parts (docs/api/lip-sync.md#dubbing). */
const Credits = Type.Integer({ minimum: 0 });
export const DubbingCredits = Type.Object(
  { tts: Credits, lip_sync: Credits, total: Credits },
  { $id: 'DubbingCredits' },
);
export type DubbingCredits = Static<typeof DubbingCredits>;

/** Answer to `POST /media/video-dubbing/jobs` (docs/api/lip-sync.md#dubbing). */
export const DubbingAccepted = Type.Object(
  {
    ...MEDIA_ENVELOPE,
    data: Type.Object({
      id: MEDIA_JOB_FIELDS.id,
      status: MEDIA_JOB_FIELDS.status,
      credits_used: DubbingCredits,
    }),
  },
  { $id: 'DubbingAccepted' },
);
export type DubbingAccepted = Static<typeof DubbingAccepted>;

const { credits_used: _, ...lipSync } = LipSyncJob.properties;

/** Answer to `GET /media/video-dubbing/jobs/{jobId}` (docs/api/lip-sync.md#dubbing; what it leaves open is ours). */
export const DubbingAnswer = Type.Object(
  {
    ...MEDIA_ENVELOPE,
    data: Type.Object({
      ...lipSync,
      credits_used: DubbingCredits,
      tempo: Type.Number({
        description: 'How much faster than spoken the voice is; 1 unless fitted',
      }),
      tts_audio_url: Type.String({ description: 'The speech as it was spoken, for a while' }),
    }),
  },
  { $id: 'DubbingAnswer' },
);
export type DubbingAnswer = Static<typeof DubbingAnswer>;
