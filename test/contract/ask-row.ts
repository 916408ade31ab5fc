import type { Behaviour } from './behaviour.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { NotApplicable } from './service-under-test.ts';

/**
 * Asks a service that is not ours for a row. A model or a voice that it does not have is no fault of it, and no
 * proof either: the row is skipped, whether it finds that out at once or later.
 */
export async function askRow(
  { check }: Pick<Behaviour, 'check'>,
  service: ServiceUnderTest,
  skip: (why: string) => void,
): Promise<void> {
  try {
    await check(service);
  } catch (error) {
    if (!(error instanceof NotApplicable)) throw error;
    skip(error.message);
  }
}
