import { answeredUrl } from './answered-url.ts';
import type { AudioAnswer } from './audio-answer.ts';
import { audioAnswer } from './audio-answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import { goneDesign } from './voice-designs.ts';

/** Which candidate is listened to. */
export interface CandidateRef {
  readonly designId: string;
  readonly candidateId: string;
  /** Where its design said that the preview is; by default where the spec says so. */
  readonly previewAudioUrl?: string | undefined;
}

/**
 * The preview of a candidate (spec section 4.6), with the key where it is on the service's own origin.
 * It costs nothing.
 * @throws Failure (rejected) for a design that is gone
 */
export async function fetchCandidateAudio(
  client: ApiClient,
  { candidateId, designId, previewAudioUrl }: CandidateRef,
  signal?: AbortSignal,
): Promise<AudioAnswer> {
  const { method, target } = endpoint('getCandidateAudio', { designId, candidateId });
  const told = answeredUrl(client, previewAudioUrl);
  const accept = 'audio/*, application/json';
  const spec = { method, target: told ?? target, accept, billed: false, retry: 'safe' } as const;
  try {
    const answer = await client.send({ ...spec, signal });
    const audio = await audioAnswer(client, answer, { isOpaqueFine: true });
    // What a download says of credits is not what the design cost.
    return { ...audio, creditsUsed: undefined };
  } catch (error) {
    throw goneDesign(error);
  }
}
