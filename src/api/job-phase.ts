/** Where a job is, whatever kind of job it is. */
export type JobPhase = 'running' | 'success' | 'partial' | 'failed';

/** The words with which a job ends (contract, section 6; spec section 3). */
const ENDS: ReadonlyMap<string, JobPhase> = new Map([
  ...['success', 'completed', 'succeeded', 'done'].map((word) => [word, 'success'] as const),
  ...['fail', 'failed', 'error', 'cancelled', 'canceled', 'expired'].map(
    (word) => [word, 'failed'] as const,
  ),
  ['partial_fail', 'partial'] as const,
]);

/** What a status of the service means; a word that nobody knows is one of a job that runs. */
export function jobPhase(status: string): JobPhase {
  return ENDS.get(status.trim().toLowerCase()) ?? 'running';
}
