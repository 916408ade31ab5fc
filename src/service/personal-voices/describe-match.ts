import type { VoiceMatch } from './match-voice.ts';

/** A pitch that is off by more than this is told of. */
const TOLERANCE = 0.05;

/**
 * What a cloned voice is, in honest words, behind what its owner says of it: the pitch and the timbre of
 * the reference, spoken by an engine's voice, and nobody's identity.
 */
export function describeMatch(
  description: string,
  { engine, reachedHz }: Pick<VoiceMatch, 'engine' | 'reachedHz'>,
  referenceHz: number,
): string {
  const own = /[.!?]$/.test(description) ? description : `${description}.`;
  const source = `the voice ${engine.voice} of ${engine.name}`;
  const match = `A pitch-and-timbre match of reference audio by ${source}, not the speaker's own voice; median pitch ${pitch(reachedHz, referenceHz)}`;
  return description === '' ? match : `${own} ${match}`;
}

function pitch(reachedHz: number | undefined, referenceHz: number): string {
  const wanted = `${Math.round(referenceHz)} Hz`;
  if (reachedHz === undefined) return `about ${wanted}`;
  const isNear = Math.abs(reachedHz / referenceHz - 1) <= TOLERANCE;
  const reached = `${Math.round(reachedHz)} Hz`;
  return isNear ? reached : `${reached} (that of the reference, ${wanted}, is out of its range)`;
}
