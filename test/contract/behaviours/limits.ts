import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { claimStatus } from '../claims.ts';
import { pairOf } from '../facts.ts';

const SPEECH = [
  'POST /api/open/v3/speech/tts',
  'POST /api/open/v2/speech/tts',
  'POST /api/open/v1/speech/tts',
] as const;

/** The limits of section 8 that are not the range of one field. */
export const limits: readonly Behaviour[] = SPEECH.map((on) => ({
  id: `tts-v${/v(\d)/.exec(on)?.[1]}.text.longest`,
  section: 'limits',
  on,
  what: 'A text of 10,000 characters is spoken at once where the model takes it: there is no lower limit for synchronous speech, and the first bytes do not wait for the last',
  covers: ['TEXT_MAX_CHARACTERS'],
  spends: true,
  async check(service) {
    const { voiceId, modelId } = await pairOf(
      service,
      ({ maxTextLength }) => maxTextLength === 10_000,
    );
    const text = 'Hello there. '.repeat(800).slice(0, 10_000);
    const body = { text, voiceId, modelId };
    const answer = await service.ask(on, { body, firstBytesOnly: true });
    claimStatus(answer, 200);
    assert.ok(answer.bytes.length > 0);
  },
}));
