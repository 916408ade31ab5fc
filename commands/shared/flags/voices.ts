import type { Option } from 'commander';
import { describeCost } from '../../../src/cli/render/result.ts';
import type { MadeVoice } from '../../../src/api/resources/voices.ts';
import { LANGUAGE_MAX_CHARACTERS } from '../../../src/contract/limits.ts';
import type { VoiceVisibility } from '../../../src/contract/reference-audio.ts';
import { VOICE_VISIBILITIES } from '../../../src/contract/reference-audio.ts';
import { display } from '../../../src/text/display.ts';
import type { CommandResult } from '../../../src/cli/render/result.ts';
import { choiceOption, textWithin } from '../../../src/cli/flags/values.ts';

export interface VisibilityFlag {
  readonly visibility?: VoiceVisibility;
}

/** Creates the flag `--visibility`. */
export function visibilityOption(): Option {
  const description = `${VOICE_VISIBILITIES.join(' or ')} (default: private)`;
  return choiceOption('--visibility <who>', description, VOICE_VISIBILITIES);
}

/** Creates a parser for a language code. The parser checks only the length of the code. */
export function languageCode(flag: string): (given: string) => string {
  return textWithin(flag, LANGUAGE_MAX_CHARACTERS);
}

/** A new custom voice. */
export interface MadeVoiceDocument {
  /** Id for `foley tts -v`. */
  readonly voiceId: string;
  readonly name: string | null;
  /** ISO 8601. */
  readonly createdAt: string | null;
  readonly requestId: string;
  readonly creditsUsed: number | null;
  readonly quotaRemaining: number | null;
  readonly target: 'embedded' | 'hosted';
  /** The response of the service. */
  readonly raw: unknown;
}

/** Returns the result of creating a voice: the voice id, or all fields with `--json`. */
export function madeVoiceResult(
  { createdAt, creditsUsed, name, quotaRemaining, raw, requestId, voiceId }: MadeVoice,
  target: 'embedded' | 'hosted',
): CommandResult<MadeVoiceDocument> {
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

/** Formats a line for stderr about a new custom voice: its cost, how to use it and how the service made it. */
export function madeVoiceNotice(voice: MadeVoice, name: string): string {
  const made = `foley: created the voice "${voice.name ?? name}"`;
  return `${describeCost(made, { ...voice, ignoredParameters: [] })}; \`foley tts -v ${voice.voiceId}\` speaks with it${voice.notices.map((notice) => `. ${notice}`).join('')}`;
}
