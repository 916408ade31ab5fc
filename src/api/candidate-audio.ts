import { answeredUrl } from './answered-url.ts';
import type { AudioAnswer } from './audio-answer.ts';
import { audioAnswer } from './audio-answer.ts';
import type { ApiClient } from './client.ts';
import { download } from './download.ts';
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
  const { target } = endpoint('getCandidateAudio', { designId, candidateId });
  const told = answeredUrl(client, previewAudioUrl);
  const accept = 'audio/*, application/json';
  try {
    const answer = await download(
      client,
      // A link that was told is good for a while; the path of the spec gets a fresh one.
      (headers, isAgain) => {
        const spec = {
          method: 'GET',
          billed: false,
          retry: 'safe',
          accept,
          headers,
          signal,
        } as const;
        return client.send({ ...spec, target: isAgain ? target : (told ?? target) });
      },
      signal,
    );
    const audio = await audioAnswer(client, answer, { isOpaqueFine: true });
    // What a download says of credits is not what the design cost.
    return { ...audio, creditsUsed: undefined };
  } catch (error) {
    throw goneDesign(error);
  }
}
