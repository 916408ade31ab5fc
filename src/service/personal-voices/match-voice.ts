import type { EngineSource } from '../catalogue/voices.ts';
import { semitones } from '../reference-audio/voice-analyser.ts';
import type { Likeness, VoiceProfile } from '../reference-audio/voice-profile.ts';
import { likeness } from '../reference-audio/voice-profile.ts';
import type { MeasuredVoice, Measuring, NaturalVoices } from './natural-voices.ts';
import { measure } from './natural-voices.ts';

/** A voice of an engine, made as like another voice as it can be. */
export interface VoiceMatch {
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
