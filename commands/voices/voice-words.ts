import type { MadeVoice } from '../../src/api/made-voice.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { display } from '../../src/text/display.ts';
import { withCost } from '../tts-words.ts';

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
  const made = `foley: made the voice "${voice.name ?? name}"`;
  return `${withCost(made, { ...voice, ignoredParameters: [] })}; \`foley tts -v ${voice.voiceId}\` speaks with it`;
}
