import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, QuotaRemaining, RequestId } from './schemas.ts';
import type { Endpoint } from './endpoint.ts';
import { BODY_ERRORS } from './endpoint.ts';
import {
  DESIGN_PROMPT_MAX_CHARACTERS,
  LANGUAGE_MAX_CHARACTERS,
  PREVIEW_TEXT_MAX_CHARACTERS,
  VOICE_NAME_MAX_CHARACTERS,
} from './limits.ts';
import { VOICE_VISIBILITIES } from './reference-audio.ts';
import { VoiceCreated } from './voices.ts';

export const VoiceDesignRequest = named('VoiceDesignRequest', {
  prompt: Type.String({
    minLength: 1,
    maxLength: DESIGN_PROMPT_MAX_CHARACTERS,
    description: 'Description of the voice',
  }),
  previewText: Type.String({
    minLength: 1,
    maxLength: PREVIEW_TEXT_MAX_CHARACTERS,
    description: 'Text that the candidates speak',
  }),
  providers: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Model families that the candidates may use, such as altA',
    }),
  ),
  language: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LANGUAGE_MAX_CHARACTERS,
      description: 'Language of the voice (default: derived from the prompt)',
    }),
  ),
});
export type VoiceDesignRequest = Static<typeof VoiceDesignRequest>;

/** A candidate voice that the service proposes for a voice description (docs/api/voice-design.md). */
export const VoiceCandidate = named('VoiceCandidate', {
  candidateId: Type.String({
    description: 'Id of the candidate, for preview and saving (not a voice id)',
  }),
  previewAudioUrl: Type.String({
    description: 'URL of the audio preview (requires the API key)',
  }),
  provider: Type.String({ description: 'Model family of the voice, such as altA' }),
  language: Type.String({ description: 'Language code' }),
  description: Type.String({
    description: 'Description of the candidate, with the prompt words that the service used',
  }),
});
export type VoiceCandidate = Static<typeof VoiceCandidate>;

/**
 * Response to `POST /voice-designs` (docs/api/voice-design.md). The API does not specify the field names in `billing`,
 * so foley chose them.
 */
export const VoiceDesign = named('VoiceDesign', {
  designId: Type.String({
    description: 'Id of the design, for previews and saving (not a voice id)',
  }),
  candidates: Type.Array(VoiceCandidate, { description: 'Candidate voices to choose from' }),
  createdAt: Type.String({
    format: 'date-time',
    description: 'Time when the design was created (ISO 8601)',
  }),
  expiresAt: Type.String({
    format: 'date-time',
    description: 'Time when the design expires (ISO 8601)',
  }),
  billing: Type.Object(
    {
      characters: Type.Integer({ description: 'Number of characters in all previews' }),
      creditsUsed: Type.Number({ description: 'Credits charged for the design' }),
      quotaRemaining: QuotaRemaining,
    },
    { description: 'Price of the previews' },
  ),
  notices: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'How the service makes the voices, and what the prompt asks for that it cannot do',
    }),
  ),
  requestId: RequestId,
});
export type VoiceDesign = Static<typeof VoiceDesign>;

export const VoiceDesignSave = named('VoiceDesignSave', {
  candidateId: Type.String({ minLength: 1, description: 'Id of the candidate to save' }),
  name: Type.String({
    minLength: 1,
    maxLength: VOICE_NAME_MAX_CHARACTERS,
    description: 'Display name of the voice',
  }),
  visibility: Type.Optional(
    Type.Enum([...VOICE_VISIBILITIES], {
      default: 'private',
      description: 'Who may use the voice: the account (private) or everyone (public)',
    }),
  ),
  language: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LANGUAGE_MAX_CHARACTERS,
      description: 'Language of the voice (default: the language of the candidate)',
    }),
  ),
});
export type VoiceDesignSave = Static<typeof VoiceDesignSave>;

export const VoiceDesignSaved = named('VoiceDesignSaved', {
  ...VoiceCreated.properties,
  designId: Type.String({ description: 'Id of the design' }),
  candidateId: Type.String({ description: 'Id of the saved candidate' }),
});
export type VoiceDesignSaved = Static<typeof VoiceDesignSaved>;

const KEY_ERRORS = [
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_REQUEST_ALREADY_COMPLETED',
  'ERR_REQUEST_PREVIOUSLY_REFUNDED',
] as const;

const NO_CANDIDATE = ['ERR_DESIGN_NOT_FOUND', 'ERR_CANDIDATE_NOT_FOUND'] as const;

export const VOICE_DESIGN_ENDPOINTS = [
  {
    id: 'createVoiceDesign',
    method: 'POST',
    path: '/api/open/v1/voice-designs',
    section: 'voice-design',
    charges: 'characters',
    repeat: 'replay',
    isKeyRequired: true,
    summary: 'Create a voice design: three candidate voices for a description',
    body: VoiceDesignRequest,
    success: VoiceDesign,
    errors: [...BODY_ERRORS, ...KEY_ERRORS, 'ERR_INSUFFICIENT_CREDITS', 'ERR_GENERATION_FAILED'],
  },
  {
    id: 'getCandidateAudio',
    method: 'GET',
    path: '/api/open/v1/voice-designs/{designId}/candidates/{candidateId}/audio',
    section: 'voice-design',
    summary: 'Download the audio preview of a candidate voice',
    success: 'preview',
    errors: NO_CANDIDATE,
  },
  {
    id: 'saveVoiceDesign',
    method: 'POST',
    path: '/api/open/v1/voice-designs/{designId}/voices',
    section: 'voice-design',
    charges: 'voice',
    repeat: 'replay',
    isKeyRequired: true,
    summary: 'Save a candidate of a design as a personal voice',
    body: VoiceDesignSave,
    success: VoiceDesignSaved,
    errors: [...BODY_ERRORS, ...KEY_ERRORS, ...NO_CANDIDATE, 'ERR_VOICE_LIMIT_REACHED'],
  },
] as const satisfies readonly Endpoint[];
