import {
  AlignedAudio,
  AlignedCompleted,
  AlignedError,
  AlignedWord,
  AlignmentInvalidated,
  AlignmentSnapshot,
  CachedSpeech,
  SpeechRequestV1,
  SpeechRequestV2,
  SpeechRequest,
} from '../../contract/speech.ts';
import { ErrorBody, OpenAiErrorBody } from '../../contract/error-body.ts';
import {
  Job,
  JobAccepted,
  JobList,
  JobListItem,
  JobListItemV1,
  JobListV1,
  JobRequestV1,
  JobSegment,
  JobV1,
  Pagination,
} from '../../contract/jobs.ts';
import {
  DubbingAccepted,
  DubbingAnswer,
  DubbingCredits,
  DubbingRequest,
  LipSyncAccepted,
  LipSyncAnswer,
  LipSyncJob,
  LipSyncList,
  LipSyncRequest,
  LipSyncResult,
} from '../../contract/lip-sync.ts';
import {
  ImageModel,
  ImageVariant,
  MediaModels,
  VideoModel,
  VideoVariant,
  ImageJob,
  ImageRequest,
  VideoJob,
  VideoRequest,
} from '../../contract/media.ts';
import { Capabilities, Model } from '../../contract/models.ts';
import { Profile, ProfileUpdate } from '../../contract/account.ts';
import {
  CompatModel,
  CompatModels,
  CompatSpeechDelta,
  CompatSpeechDone,
  CompatSpeechRequest,
  CompatTtsRequest,
  CompatVoices,
} from '../../contract/other-clients.ts';
import {
  BrowserTicket,
  BrowserTicketRequest,
  BrowserTicketV2,
  RealtimeCapabilities,
  RealtimeCapabilitiesV2,
  RealtimeModel,
  RealtimeRequest,
  RealtimeRequestV2,
} from '../../contract/realtime.ts';
import {
  VoiceCreated,
  VoiceCreatedV3,
  VoiceDeleted,
  VoiceDeletion,
  VoiceUpload,
  VoiceListV1,
  VoiceListV1Query,
  VoiceV1,
  Voice,
  VoiceAnswer,
  VoiceList,
} from '../../contract/voices.ts';
import {
  VoiceCandidate,
  VoiceDesign,
  VoiceDesignRequest,
  VoiceDesignSave,
  VoiceDesignSaved,
} from '../../contract/voice-design.ts';

type Json = Readonly<Record<string, unknown>>;

const NAMED: readonly object[] = [
  AlignedAudio,
  AlignedCompleted,
  AlignedError,
  AlignedWord,
  AlignmentInvalidated,
  AlignmentSnapshot,
  BrowserTicket,
  BrowserTicketRequest,
  BrowserTicketV2,
  CachedSpeech,
  Capabilities,
  CompatModel,
  CompatModels,
  CompatSpeechDelta,
  CompatSpeechDone,
  CompatSpeechRequest,
  CompatTtsRequest,
  CompatVoices,
  DubbingAccepted,
  DubbingAnswer,
  DubbingCredits,
  DubbingRequest,
  ErrorBody,
  ImageJob,
  ImageModel,
  ImageRequest,
  ImageVariant,
  Job,
  JobAccepted,
  JobList,
  JobListItem,
  JobListItemV1,
  JobListV1,
  JobRequestV1,
  JobSegment,
  JobV1,
  LipSyncAccepted,
  LipSyncAnswer,
  LipSyncJob,
  LipSyncList,
  LipSyncRequest,
  LipSyncResult,
  MediaModels,
  Model,
  OpenAiErrorBody,
  Pagination,
  Profile,
  ProfileUpdate,
  RealtimeCapabilities,
  RealtimeCapabilitiesV2,
  RealtimeModel,
  RealtimeRequest,
  RealtimeRequestV2,
  SpeechRequest,
  SpeechRequestV1,
  SpeechRequestV2,
  Voice,
  VoiceAnswer,
  VoiceCandidate,
  VoiceCreated,
  VoiceCreatedV3,
  VoiceDeleted,
  VoiceDeletion,
  VoiceDesign,
  VoiceDesignRequest,
  VoiceDesignSave,
  VoiceDesignSaved,
  VoiceList,
  VoiceListV1,
  VoiceListV1Query,
  VoiceUpload,
  VoiceV1,
  VideoJob,
  VideoModel,
  VideoRequest,
  VideoVariant,
];

/** The contract's named schemas as OpenAPI components; one inside another becomes a reference. */
export function componentSchemas(): Json {
  return Object.fromEntries(
    NAMED.map((schema) => {
      const { $id, ...rest } = asRecord(schema);
      return [String($id), withReferences(rest)];
    }),
  );
}

/** A schema where it is used: a reference when it has a name. */
export function schemaOrReference(schema: object): Json {
  const { $id } = asRecord(schema);
  return typeof $id === 'string' ? { $ref: `#/components/schemas/${$id}` } : asRecord(schema);
}

function withReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item));
  if (typeof value !== 'object' || value === null) return value;
  const record = asRecord(value);
  if (typeof record['$id'] === 'string') return schemaOrReference(value);
  return Object.fromEntries(
    Object.entries(record).map(([name, part]) => [name, withReferences(part)]),
  );
}

function asRecord(value: object): Json {
  return Object.fromEntries(Object.entries(value));
}
