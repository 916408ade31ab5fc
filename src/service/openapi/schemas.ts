import {
  AlignedAudio,
  AlignedCompleted,
  AlignedError,
  AlignedWord,
  AlignmentInvalidated,
  AlignmentSnapshot,
} from '../../contract/schemas/aligned.ts';
import { ErrorBody, OpenAiErrorBody } from '../../contract/schemas/error.ts';
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
} from '../../contract/schemas/job.ts';
import {
  DubbingAccepted,
  DubbingAnswer,
  DubbingCredits,
  DubbingRequest,
} from '../../contract/schemas/dubbing.ts';
import {
  LipSyncAccepted,
  LipSyncAnswer,
  LipSyncJob,
  LipSyncList,
  LipSyncRequest,
  LipSyncResult,
} from '../../contract/schemas/lip-sync.ts';
import {
  ImageModel,
  ImageVariant,
  MediaModels,
  VideoModel,
  VideoVariant,
} from '../../contract/schemas/media-models.ts';
import { Capabilities, Model } from '../../contract/schemas/model.ts';
import {
  ImageJob,
  ImageRequest,
  VideoJob,
  VideoRequest,
} from '../../contract/schemas/picture-job.ts';
import { Profile, ProfileUpdate } from '../../contract/schemas/profile.ts';
import {
  CompatModel,
  CompatModels,
  CompatSpeechDelta,
  CompatSpeechDone,
  CompatSpeechRequest,
  CompatTtsRequest,
  CompatVoices,
} from '../../contract/schemas/speech-compat.ts';
import {
  BrowserTicket,
  BrowserTicketRequest,
  BrowserTicketV2,
  RealtimeCapabilities,
  RealtimeCapabilitiesV2,
  RealtimeModel,
  RealtimeRequest,
  RealtimeRequestV2,
} from '../../contract/schemas/realtime.ts';
import { CachedSpeech, SpeechRequestV1 } from '../../contract/schemas/speech-v1.ts';
import { SpeechRequestV2 } from '../../contract/schemas/speech-v2.ts';
import { SpeechRequest } from '../../contract/schemas/speech.ts';
import {
  VoiceCreated,
  VoiceCreatedV3,
  VoiceDeleted,
  VoiceDeletion,
  VoiceUpload,
} from '../../contract/schemas/voice-create.ts';
import {
  VoiceCandidate,
  VoiceDesign,
  VoiceDesignRequest,
  VoiceDesignSave,
  VoiceDesignSaved,
} from '../../contract/schemas/voice-design.ts';
import { VoiceListV1, VoiceListV1Query, VoiceV1 } from '../../contract/schemas/voice-v1.ts';
import { Voice, VoiceAnswer, VoiceList } from '../../contract/schemas/voice.ts';

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
