import type { Option } from 'commander';
import type { ApiClient } from '../../../src/api/client.ts';
import type { Context, ServiceConnection } from '../../../src/cli/command.ts';
import { describeCost } from '../../../src/cli/render/result.ts';
import { resolveSetting } from '../../../src/config/settings.ts';
import { chooseVoice } from '../../../src/speech/voice-choice.ts';
import type { MadeVoice } from '../../../src/api/resources/voices.ts';
import { allVoices } from '../../../src/api/resources/voices.ts';
import { LANGUAGE_MAX_CHARACTERS } from '../../../src/contract/limits.ts';
import type { VoiceVisibility } from '../../../src/contract/reference-audio.ts';
import { VOICE_VISIBILITIES } from '../../../src/contract/reference-audio.ts';
import { display } from '../../../src/text/display.ts';
import type { CommandResult } from '../../../src/cli/render/result.ts';
import { choiceOption, textWithin } from '../../../src/cli/flags/values.ts';

/** The flags that select a voice. */
export interface VoiceFlags {
  readonly voice?: string;
  readonly voiceName?: string;
  // Not readonly, so that flags can have the speech controls too.
  language?: string;
}

/**
 * Returns the id of the voice that the flags, the environment or the settings files select. If they give a voice name,
 * searches the whole voice list for it.
 * @param text the text to speak, if it is known
 * @param textName the name of the text in messages, such as `item 3`
 * @throws Failure of kind `usage` if the voice does not exist
 */
export async function namedVoice(
  context: Context,
  { language: given, voice, voiceName }: VoiceFlags,
  client: ApiClient,
  target: ServiceConnection['target'],
  text?: string,
  textName?: string,
): Promise<string> {
  const { io, signal } = context;
  const settings = await context.settings();
  const configuredVoice = resolveSetting(settings, 'voice')?.value;
  const language = resolveSetting(settings, 'language', given)?.value;
  const notice = (sentence: string): void => io.notice(sentence);
  const options = { voice, voiceName, configuredVoice, target, language, text, textName, notice };
  return chooseVoice(options, async function* () {
    const query = { includePersonal: true, signal };
    for await (const listed of allVoices(client, query)) yield listed.voice;
  });
}

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
