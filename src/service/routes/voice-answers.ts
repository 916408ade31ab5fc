import type { VoiceCreated, VoiceCreatedV3 } from '../../contract/schemas/voice-create.ts';
import { familyOf } from '../catalogue/catalogue.ts';
import type { PersonalVoice } from '../personal-voices/voice-records.ts';

/** A voice that was made, as v1 answers it (spec section 2.1). */
export function voiceCreated(voice: PersonalVoice): VoiceCreated {
  const { id, name, family, languages, made } = voice;
  return {
    voiceId: id,
    title: name,
    description: made.description,
    createdAt: new Date(made.createdAt).toISOString(),
    id,
    name,
    provider: family,
    isPersonal: true,
    visibility: made.visibility,
    languages: [...languages],
  };
}

/** The same in v3: the item of its list, with what v1 says besides. */
export function voiceCreatedV3(voice: PersonalVoice, requestId: string): VoiceCreatedV3 {
  const { description, createdAt, visibility } = voiceCreated(voice);
  return {
    voiceId: voice.id,
    name: voice.name,
    isPersonal: true,
    primaryLanguage: voice.primaryLanguage,
    languages: [...voice.languages],
    modelIds: [...familyOf(voice).models],
    description,
    createdAt,
    visibility,
    requestId,
  };
}
