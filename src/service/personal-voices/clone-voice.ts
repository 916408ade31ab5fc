import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { FamilyId } from '../../contract/families.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { VoiceProfile } from '../reference-audio/voice-profile.ts';
import { invalidRequest } from '../service-error.ts';
import type { UploadedFile } from '../uploads/multipart-form.ts';
import { anyOf } from '../wording/describe-allowed.ts';
import { showText } from '../wording/show-value.ts';
import { describeMatch } from './describe-match.ts';
import { matchVoice } from './match-voice.ts';
import type { Measuring, NaturalVoices } from './natural-voices.ts';
import { isSameLanguage } from './natural-voices.ts';
import type { PersonalVoice } from './voice-records.ts';

/** What a voice is to be, besides what it is made of. */
export interface VoiceWishes {
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: VoiceVisibility;
  /** The first that can be spoken here counts; none: English. */
  readonly languages: readonly string[];
}

export interface CloneDeps {
  readonly voices: NaturalVoices;
  readonly clock: Clock;
  readonly random: Random;
}

/** The family of voices that accounts make: its models take every format, and ask for no pitch control. */
export const MADE_FAMILY: FamilyId = 'vendor';
const DEFAULT_LANGUAGE = 'en';

/**
 * Makes a voice that matches the pitch and timbre of what is heard in files; it is not kept yet.
 * @throws ServiceError 400 when a file cannot be used, no voice is heard in them, or none of the
 * languages is spoken here
 */
export async function cloneVoice(
  { voices, clock, random }: CloneDeps,
  { files, wishes }: { readonly files: readonly UploadedFile[]; readonly wishes: VoiceWishes },
  measuring: Measuring,
): Promise<PersonalVoice> {
  const language = requireSpoken(wishes.languages, voices);
  const profile = await requireVoice(files, measuring);
  const match = await matchVoice(voices, { profile, language }, measuring);
  if (match === undefined) throw new Error(`no voice of ${language} can be measured`);
  const { accountId, description, languages, name, visibility } = wishes;
  const spoken = languages.filter((one) => isSameLanguage(one, language));
  return {
    id: random.uuid(),
    name,
    family: MADE_FAMILY,
    primaryLanguage: spoken[0] ?? match.language,
    languages: spoken.length === 0 ? [match.language] : spoken,
    engine: match.engine,
    made: {
      accountId,
      description: describeMatch(description, match, profile.medianHz),
      visibility,
      createdAt: clock.now(),
    },
  };
}

/** @throws ServiceError 400 when there are languages, and none of them is spoken by a voice that can be moved */
function requireSpoken(languages: readonly string[], voices: NaturalVoices): string {
  const language = languages.find((one) => voices.speak(one));
  if (language !== undefined) return language;
  if (languages.length === 0) return DEFAULT_LANGUAGE;
  const here = anyOf(voices.languages);
  const message = `languages are ${languages.map((one) => showText(one)).join(', ')}; spoken here is ${here}`;
  throw invalidRequest([{ field: 'languages', message }]);
}

async function requireVoice(
  files: readonly UploadedFile[],
  { listener, signal }: Measuring,
): Promise<VoiceProfile> {
  const opened = files.map(({ file: { fd, size } }) => ({ fd, size }));
  const heard = await listener.hearFiles(opened, signal);
  if (heard.kind === 'refused') {
    const name = files[heard.index]?.name ?? '';
    const message = `audioFiles: ${showText(name)} ${heard.problem}`;
    throw invalidRequest([{ field: 'audioFiles', message }]);
  }
  if (heard.profile !== undefined) return heard.profile;
  const message = 'audioFiles: no voice is heard in it; its pitch cannot be told';
  throw invalidRequest([{ field: 'audioFiles', message }]);
}
