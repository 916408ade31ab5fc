import type { FamilyId } from '../../contract/families.ts';
import type { EngineSource } from '../catalogue/voices.ts';
import type { MeasuredVoice } from '../personal-voices/natural-voices.ts';
import { semitones } from '../reference-audio/voice-analyser.ts';
import type { VoiceTraits } from './prompt-words.ts';

/** A voice that a design proposes. */
export interface ProposedVoice {
  readonly family: FamilyId;
  /** Of the engine's voice. */
  readonly language: string;
  readonly engine: Required<EngineSource>;
  /** What was made of the prompt, in honest words. */
  readonly description: string;
}

/** How each candidate differs from what was asked for; all differ from each other whatever that is. */
const VARIATIONS = [
  { pitch: 1, speed: 1, formants: 1, prefers: 0 },
  { pitch: 0.92, speed: 0.95, formants: 0.97, prefers: 1 },
  { pitch: 1.08, speed: 1.05, formants: 1.03, prefers: 0 },
] as const;

/** How many semitones from its own pitch an engine's voice is worth its right accent, and its clear sound. */
const WORTH_OF_ACCENT = 4;
const WORTH_OF_CLARITY = 3;
const CLEAR = 0.3;
/** A second voice that is further from its own pitch than this is not worth being another one. */
const FURTHEST_SEMITONES = 8;

/**
 * Three different voices for what a prompt asks for, each of an engine voice that is near in pitch.
 * @param voices of the language; at least one
 * @param families of which they are to be, in turn; at least one
 */
export function proposeVoices(
  traits: VoiceTraits,
  voices: readonly MeasuredVoice[],
  families: readonly FamilyId[],
): readonly ProposedVoice[] {
  return VARIATIONS.flatMap(({ pitch, speed, formants, prefers }, index) => {
    const medianHz = traits.medianHz * pitch;
    const [nearest, second] = byDistance(voices, { ...traits, medianHz });
    const isOther = prefers === 1 && suits(second, traits, medianHz);
    const found = isOther ? second : nearest;
    const family = families[index % families.length];
    if (found === undefined || family === undefined) return [];
    const engine = {
      name: found.engine.name,
      voice: found.voice.id,
      pitch: rounded(semitones(medianHz, found.natural.medianHz)),
      speed: rounded(traits.speed * speed),
      melody: rounded(traits.melody),
      formants: rounded(traits.formants * formants),
    };
    const description = describe(traits, engine, medianHz);
    return [{ family, language: found.voice.language, engine, description }];
  });
}

function byDistance(
  voices: readonly MeasuredVoice[],
  { medianHz, language }: Pick<VoiceTraits, 'medianHz' | 'language'>,
): readonly MeasuredVoice[] {
  const distance = (one: MeasuredVoice): number => {
    const isOther = language !== undefined && one.voice.language !== language;
    const accent = isOther ? WORTH_OF_ACCENT : 0;
    return shift(one, medianHz) + accent + (one.natural.clearShare < CLEAR ? WORTH_OF_CLARITY : 0);
  };
  return voices.toSorted((one, other) => distance(one) - distance(other));
}

/** Whether it is near enough, and has the accent where one is named. */
function suits(
  voice: MeasuredVoice | undefined,
  { language = '' }: Pick<VoiceTraits, 'language'>,
  medianHz: number,
): boolean {
  if (voice === undefined || shift(voice, medianHz) > FURTHEST_SEMITONES) return false;
  return !language.includes('-') || voice.voice.language === language;
}

function shift({ natural }: MeasuredVoice, medianHz: number): number {
  return Math.abs(semitones(medianHz, natural.medianHz));
}

function describe({ words }: VoiceTraits, engine: EngineSource, medianHz: number): string {
  const pace = engine.speed === 1 ? [] : [`${Math.round(engine.speed * 100)} % of its pace`];
  const made = [`about ${Math.round(medianHz)} Hz`, ...pace].join(', ');
  const reason =
    words.length === 0
      ? 'no word of the prompt is known here'
      : `from the words ${words.join(', ')}`;
  return `A designed voice: ${engine.voice} of ${engine.name}, ${made}; ${reason}`;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
