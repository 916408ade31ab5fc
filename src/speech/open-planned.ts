import type { Format } from '../audio/formats.ts';
import { extensionOf } from '../audio/formats.ts';
import type { FileDeps } from '../files/file-deps.ts';
import { automaticName } from '../files/names.ts';
import type { Output } from '../files/output.ts';
import { openOutput } from '../files/publish.ts';
import type { OutputPlan } from './output-plan.ts';

export interface OpenPlannedOptions extends FileDeps {
  readonly text: string;
  /** An existing file is a failure, and is not replaced. */
  readonly noClobber: boolean;
}

/**
 * Opens the file that audio will go into, before anything is billed; undefined where it goes to a
 * stream.
 * @throws Failure (output, exists, usage)
 */
export async function openPlanned(
  plan: OutputPlan<Format>,
  { text, noClobber, ...deps }: OpenPlannedOptions,
): Promise<Output | undefined> {
  switch (plan.kind) {
    case 'stdout':
    case 'player':
      return undefined;
    case 'file':
      return openOutput({ ...deps, path: plan.path, existing: noClobber ? 'refuse' : 'replace' });
    case 'automatic':
      return openOutput({
        ...deps,
        path: plan.path ?? automaticName(text, extensionOf(plan.format)),
        existing: 'number',
      });
  }
}
