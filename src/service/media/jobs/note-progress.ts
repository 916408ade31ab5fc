import type { Store } from '../../store/open-store.ts';

/** Written down in steps of so many percent: every process on the same data can be asked for it. */
const STEP = 5;

/**
 * Writes down how far a job is, so that it never seems to go back or to be done before it is. What
 * cannot be written now comes with the next step.
 */
export function progressNoter(
  { store }: { readonly store: Store },
  jobId: string,
): (fraction: number) => void {
  let noted = 0;
  return (fraction) => {
    const percent = Math.min(99, Math.floor(fraction * 100));
    if (percent < noted + STEP) return;
    try {
      store.write((db) =>
        db.run('UPDATE media_job SET progress = ? WHERE id = ? AND finished_at IS NULL', [
          percent,
          jobId,
        ]),
      );
      noted = percent;
    } catch {
      // Nothing depends on it.
    }
  };
}
