import { setTimeout } from 'node:timers/promises';

/** Waits until a condition holds, without keeping a processor busy; the timeout of the test limits it. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setTimeout(1);
}
