import type { ApiClient } from '../api/client.ts';
import type { CandidateRef } from '../api/resources/designs.ts';
import { fetchCandidateAudio } from '../api/resources/designs.ts';
import { mapConcurrent } from '../system/concurrency.ts';
import { Failure } from '../errors/failure.ts';
import type { SavedFile, OpenDestination } from '../paid/job.ts';
import { saveFile } from '../paid/job.ts';
import { withFormat } from '../paid/speakers/speech-job.ts';

const MAX_DOWNLOADS = 4;

export interface PreviewDeps {
  readonly client: ApiClient;
  /** Opens the output file of a preview. The file is named after the candidate. */
  readonly placeFor: OpenDestination;
  readonly signal: AbortSignal;
}

export interface CandidatePreview {
  readonly candidateId: string;
  readonly saved: SavedFile | undefined;
  readonly failure: Failure | undefined;
}

/**
 * Downloads the preview audio of one candidate voice, checks it and saves it (docs/api/voice-design.md).
 * @throws Failure; on abort, the signal's abort reason
 */
export async function savePreview(
  ref: CandidateRef,
  { client, placeFor, signal }: PreviewDeps,
): Promise<SavedFile> {
  const made = await withFormat(await fetchCandidateAudio(client, ref, signal), undefined);
  return saveFile(made, { id: ref.candidateId }, { placeFor, signal });
}

/**
 * Saves the previews of all candidate voices, several at a time. If a preview cannot be saved, continues with the
 * others.
 * @throws the signal's abort reason
 */
export function savePreviews(
  refs: readonly CandidateRef[],
  deps: PreviewDeps,
): Promise<readonly CandidatePreview[]> {
  return mapConcurrent(refs, MAX_DOWNLOADS, async (ref) => {
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
