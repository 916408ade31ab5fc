import { Option } from 'commander';
import { describeCost } from '../render/result.ts';
import type { MadeVoice } from '../../api/resources/voices.ts';
import { LANGUAGE_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import { VOICE_VISIBILITIES } from '../../contract/reference-audio.ts';
import { display } from '../../text/display.ts';
import type { CommandResult } from '../render/result.ts';
import { textWithin } from './speech.ts';
import { oneOf } from './values.ts';

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

/** A voice that was made: its id for a person or a script, everything with `--json`. */
export function madeVoiceResult(
  { createdAt, creditsUsed, name, quotaRemaining, raw, requestId, voiceId }: MadeVoice,
  target: 'embedded' | 'hosted',
): CommandResult {
  return {
    data: {
      voiceId,
      name: name ?? null,
      createdAt: createdAt ?? null,
      requestId,
      creditsUsed: creditsUsed ?? null,
      quotaRemaining: quotaRemaining ?? null,
      target,
      raw,
    },
    human: () => display(voiceId),
    seen: { kind: 'voice', names: [{ name: voiceId, about: name ?? '' }] },
  };
}

/** That it was made, what it cost and how to speak with it, on a line for stderr. */
export function madeVoiceNotice(voice: MadeVoice, name: string): string {
  const made = `foley: created the voice "${voice.name ?? name}"`;
  return `${describeCost(made, { ...voice, ignoredParameters: [] })}; \`foley tts -v ${voice.voiceId}\` speaks with it`;
}
