import type { ApiClient } from '../api/client.ts';
import type { CandidateRef } from '../api/resources/designs.ts';
import { fetchCandidateAudio } from '../api/resources/designs.ts';
import { inTurns } from '../effects/concurrency.ts';
import { Failure } from '../errors/failure.ts';
import type { SavedFile, PlaceFor } from '../speech/jobs/job-source.ts';
import { saveFile } from '../speech/jobs/job-source.ts';
import { withFormat } from '../speech/jobs/speech-job.ts';

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
 * Brings the preview of a candidate to its place, checked as all audio is (docs/api/voice-design.md).
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
