import type { FamilyId } from '../../contract/families.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { UploadedFile } from '../http/multipart-form.ts';
import { anyOf, showText } from '../http/wording.ts';
import type { Measuring, NaturalVoices, MeasuredVoice } from './natural-voices.ts';
import { isSameLanguage, measure } from './natural-voices.ts';
import { semitones, likeness } from './listen/voice-analyser.ts';
import type { VoiceProfile, Likeness } from './listen/voice-analyser.ts';
import { invalidRequest } from '../service-error.ts';
import type { PersonalVoice } from './personal-voices.ts';
import type { EngineSource } from './voices.ts';

/** What a voice is to be, besides what it is made of. */
export interface VoiceWishes {
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: VoiceVisibility;
  /** The first that can be spoken here counts; none: English. */
  readonly languages: readonly string[];
}

interface CloneDeps {
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

/** A voice of an engine, made as like another voice as it can be. */
interface VoiceMatch {
  readonly engine: Required<EngineSource>;
  /** Language of the engine's voice. */
  readonly language: string;
  /** The median pitch that it was measured to have; nothing where that could not be told. */
  readonly reachedHz: number | undefined;
}

/** How often the pitch is measured and corrected at most. */
const CORRECTIONS = 3;
/** Off by less than this many semitones (under 1 %) is right. */
const NEAR = 0.12;
/** A melody that is flatter or livelier than this, in relation to the engine's own, is hard to follow. */
const MELODIES = { lowest: 0.4, highest: 1.2 } as const;
/** Decibels of likeness that a semitone costs, times its square: far from its own pitch a voice breaks up. */
const COST_OF_SHIFT = 0.08;
/** A voice with less clear sound than this cannot be set to a pitch well: only where there is no other. */
const CLEAR = 0.3;
const COST_OF_ROUGHNESS = 100;

/**
 * Makes an engine voice that is like a profile in median pitch, range of the melody and resonances: the
 * nearest in timbre of those that speak the language, moved, and then measured until its pitch is right.
 * @param language of the voice; regions do not count
 * @returns nothing where no engine voice of that language can be moved
 * @throws EngineError when an engine fails, and what listening throws
 */
export async function matchVoice(
  voices: NaturalVoices,
  { profile, language }: { readonly profile: VoiceProfile; readonly language: string },
  measuring: Measuring,
): Promise<VoiceMatch | undefined> {
  const found = nearest(await voices.of(language, measuring), profile);
  if (found === undefined) return undefined;
  const { engine, voice, natural, alike } = found;
  const melody = profile.rangeSemitones / Math.max(natural.rangeSemitones, 1);
  const source = {
    name: engine.name,
    voice: voice.id,
    pitch: semitones(profile.medianHz, natural.medianHz),
    speed: 1,
    melody: rounded(Math.min(MELODIES.highest, Math.max(MELODIES.lowest, melody))),
    formants: rounded(alike.formants),
  };
  const match = await corrected(found, { source, targetHz: profile.medianHz }, measuring);
  return { ...match, language: voice.language };
}

interface Nearest extends MeasuredVoice {
  readonly alike: Likeness;
  readonly cost: number;
}

function nearest(voices: readonly MeasuredVoice[], profile: VoiceProfile): Nearest | undefined {
  return voices
    .map((voice) => {
      const { envelope, medianHz, clearShare } = voice.natural;
      const alike = likeness(profile.envelope, envelope);
      const shift = semitones(profile.medianHz, medianHz);
      const roughness = clearShare < CLEAR ? COST_OF_ROUGHNESS : 0;
      return { ...voice, alike, cost: alike.difference + COST_OF_SHIFT * shift ** 2 + roughness };
    })
    .sort((one, other) => one.cost - other.cost)[0];
}

/** Measures and corrects the pitch; gives the nearest that was reached. */
async function corrected(
  voice: MeasuredVoice,
  { source, targetHz }: { readonly source: Required<EngineSource>; readonly targetHz: number },
  measuring: Measuring,
): Promise<Omit<VoiceMatch, 'language'>> {
  let best: { readonly engine: Required<EngineSource>; readonly reachedHz: number } | undefined;
  let { pitch } = source;
  for (let turn = 0; turn <= CORRECTIONS; turn += 1) {
    const engine = { ...source, pitch: rounded(pitch) };
    const reachedHz = (await measure(voice, engine, measuring))?.medianHz;
    if (reachedHz === undefined) break;
    const off = semitones(targetHz, reachedHz);
    if (best === undefined || Math.abs(off) < Math.abs(semitones(targetHz, best.reachedHz))) {
      best = { engine, reachedHz };
    }
    if (Math.abs(off) < NEAR) break;
    pitch += off;
  }
  return best ?? { engine: { ...source, pitch: rounded(pitch) }, reachedHz: undefined };
}

/** As many digits as make a difference that can be heard, and no more. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** A pitch that is off by more than this is told of. */
const TOLERANCE = 0.05;

/**
 * What a cloned voice is, in honest words, behind what its owner says of it: the pitch and the timbre of
 * the reference, spoken by an engine's voice, and nobody's identity.
 */
function describeMatch(
  description: string,
  { engine, reachedHz }: Pick<VoiceMatch, 'engine' | 'reachedHz'>,
  referenceHz: number,
): string {
  const own = /[.!?]$/.test(description) ? description : `${description}.`;
  const source = `the voice ${engine.voice} of ${engine.name}`;
  const match = `A pitch-and-timbre match of reference audio by ${source}, not the speaker's own voice; median pitch ${describePitch(reachedHz, referenceHz)}`;
  return description === '' ? match : `${own} ${match}`;
}

function describePitch(reachedHz: number | undefined, referenceHz: number): string {
  const wanted = `${Math.round(referenceHz)} Hz`;
  if (reachedHz === undefined) return `about ${wanted}`;
  const isNear = Math.abs(reachedHz / referenceHz - 1) <= TOLERANCE;
  const reached = `${Math.round(reachedHz)} Hz`;
  return isNear ? reached : `${reached} (that of the reference, ${wanted}, is out of its range)`;
}
