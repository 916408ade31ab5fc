import type { CandidateRef } from '../api/candidate-audio.ts';
import { fetchCandidateAudio } from '../api/candidate-audio.ts';
import type { ApiClient } from '../api/client.ts';
import { Failure } from '../errors/failure.ts';
import { withFormat } from '../jobs/audio-format.ts';
import type { PlaceFor } from '../jobs/fetch-job.ts';
import { inTurns } from '../jobs/in-turns.ts';
import type { SavedFile } from '../jobs/save-file.ts';
import { saveFile } from '../jobs/save-file.ts';

/** So many are fetched at the same time. */
const MOST_AT_ONCE = 4;

export interface PreviewDeps {
  readonly client: ApiClient;
  /** Opens the place of a preview, which has the id of its candidate. */
  readonly placeFor: PlaceFor;
  readonly signal: AbortSignal;
}

/** What became of the preview of one candidate. */
export interface CandidatePreview {
  readonly candidateId: string;
  readonly saved: SavedFile | undefined;
  /** Why it is not there; it can be fetched again. */
  readonly failure: Failure | undefined;
}

/**
 * Brings the preview of a candidate to its place, checked as all audio is (spec section 4.6).
 * @throws Failure, or the reason of the signal
 */
export async function savePreview(
  ref: CandidateRef,
  { client, placeFor, signal }: PreviewDeps,
): Promise<SavedFile> {
  const { file, format } = await withFormat(
    await fetchCandidateAudio(client, ref, signal),
    undefined,
  );
  const place = await placeFor({ id: ref.candidateId }, format).catch((error: unknown) => {
    file.discard();
    throw error;
  });
  try {
    return await saveFile(file, place, { format, signal });
  } finally {
    // After it was published this does nothing.
    await place.output?.abandon();
  }
}

/**
 * The same for all candidates of a design, several at a time; one that fails is told and keeps none of
 * the others away.
 * @throws the reason of the signal
 */
export function savePreviews(
  refs: readonly CandidateRef[],
  deps: PreviewDeps,
): Promise<readonly CandidatePreview[]> {
  return inTurns(refs, MOST_AT_ONCE, async (ref) => {
    const { candidateId } = ref;
    try {
      return { candidateId, saved: await savePreview(ref, deps), failure: undefined };
    } catch (error) {
      deps.signal.throwIfAborted();
      if (!(error instanceof Failure)) throw error;
      return { candidateId, saved: undefined, failure: error };
    }
  });
}
