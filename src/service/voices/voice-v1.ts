import type { VoiceV1 } from '../../contract/voices.ts';
import type { SpeakingVoice } from './catalogue.ts';
import type { CatalogueVoice, EngineSource } from './voices.ts';

/** When the public voices came into the catalogue; they have not changed since. */
const PUBLISHED_AT = '2026-01-01T00:00:00.000Z';

/** The voice as v1 lists it (docs/api/voices.md). */
export function voiceV1Record(voice: SpeakingVoice): VoiceV1 {
  const { family, id, isPersonal, made, name } = voice;
  const createdAt = made === undefined ? PUBLISHED_AT : new Date(made.createdAt).toISOString();
  return {
    voiceId: id,
    title: name,
    description: describeVoice(voice),
    created_at: createdAt,
    updated_at: createdAt,
    isPersonal,
    id,
    name,
    provider: family,
  };
}

/** What a voice sounds like, in a few words; of one that an account made, what was written down then. */
export function describeVoice({ engine, made, primaryLanguage }: CatalogueVoice): string {
  if (made !== undefined) return made.description;
  const language = LANGUAGES.of(primaryLanguage) ?? primaryLanguage;
  const speaker = FLITE_SPEAKERS.get(engine.name === 'flite' ? engine.voice : '');
  if (speaker === undefined) return `${language}; ${engine.voice} of ${engine.name}`;
  return [`${speaker}, ${language}`, ...manner(engine)].join('; ');
}

const LANGUAGES = new Intl.DisplayNames(['en'], { type: 'language' });

const FLITE_SPEAKERS = new Map([
  ['slt', 'A woman'],
  ['rms', 'A man'],
  ['awb', 'A man'],
  ['kal16', 'A man'],
]);

/** How it differs from others that are made of the same engine voice. */
function manner({ pitch, speed }: EngineSource): readonly string[] {
  return [
    ...(pitch === 0 ? [] : [pitch > 0 ? 'higher' : 'lower']),
    ...(speed === 1 ? [] : [speed > 1 ? 'faster' : 'slower']),
  ];
}
