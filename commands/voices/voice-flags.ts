import { Option } from 'commander';
import { oneOf } from '../../src/cli/choice-flag.ts';
import { LANGUAGE_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import type { VoiceVisibility } from '../../src/contract/reference-audio.ts';
import { VOICE_VISIBILITIES } from '../../src/contract/reference-audio.ts';
import { textWithin } from '../speech-flags.ts';

export interface VisibilityFlag {
  readonly visibility?: VoiceVisibility;
}

/** Who may use a voice that is made. */
export function visibilityOption(): Option {
  const words = VOICE_VISIBILITIES.join(' or ');
  return new Option('--visibility <who>', `${words} (default: private)`).argParser(
    oneOf('--visibility', VOICE_VISIBILITIES),
  );
}

/** A parser for a code that a request can carry. */
export function languageCode(flag: string): (given: string) => string {
  return textWithin(flag, LANGUAGE_MAX_CHARACTERS);
}

/** A parser for a flag that may be repeated; the same value twice is one. */
export function each(
  read: (given: string) => string,
): (given: string, before: readonly string[] | undefined) => readonly string[] {
  return (given, before) => [...new Set([...(before ?? []), read(given)])];
}
