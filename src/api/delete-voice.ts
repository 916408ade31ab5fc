import { Failure } from '../errors/failure.ts';
import type { ApiClient } from './client.ts';
import { readJson } from './client.ts';
import { endpoint } from './endpoint.ts';
import type { AttemptOutcome } from './retry.ts';
import { reviseFailure } from './revise-failure.ts';

/**
 * Deletes a voice of the account (spec section 4.5). Gone is gone: an attempt that finds nothing after
 * one whose answer was lost has done what was wanted.
 * @returns the answer, as it came; without one, the id
 * @throws Failure (rejected) for a voice that is not yours, or in use
 */
export async function deleteVoice(
  client: ApiClient,
  voiceId: string,
  signal?: AbortSignal,
): Promise<unknown> {
  let mayBeDone = false;
  const onRepeat = (before: AttemptOutcome): void => {
    mayBeDone ||=
      before.kind === 'unanswered' || (before.kind === 'status' && before.status >= 500);
  };
  const call = endpoint('deleteVoice', { voiceId });
  try {
    const answer = await client.send({ ...call, billed: false, retry: 'safe', onRepeat, signal });
    if (answer.framing === 'none' || answer.contentLength === 0) return { voiceId };
    return await readJson(answer);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 404 && mayBeDone) return { voiceId };
    throw error.status === 409 ? inUse(error, voiceId) : error;
  }
}

function inUse(failure: Failure, voiceId: string): Failure {
  return reviseFailure(failure, {
    message: `voice ${voiceId} is in use, and stays: ${failure.message}`,
    hint:
      'Something that is not finished speaks with it: `foley jobs list --status processing` and ' +
      '`--status pending` show jobs; delete it when they have ended.',
  });
}
