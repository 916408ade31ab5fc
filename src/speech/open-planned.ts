import path from 'node:path';
import type { Format } from '../audio/formats.ts';
import { extensionOf } from '../audio/formats.ts';
import type { FileDeps } from '../files/file-deps.ts';
import { requireOutputSpace, requireSpoolSpace } from '../files/free-space.ts';
import { automaticName } from '../files/names.ts';
import type { Output } from '../files/output.ts';
import { openOutput } from '../files/publish.ts';
import { expectedBytes } from './audio-size.ts';
import { sweepTemporaries } from './sweep-temporaries.ts';
import type { OutputPlan } from './output-plan.ts';

export interface OpenPlannedOptions extends FileDeps {
  readonly text: string;
  /** An existing file is a failure, and is not replaced. */
  readonly noClobber: boolean;
  /** The folder of foley's state, in which audio is kept that cannot get to its output. */
  readonly state: string;
}

/**
 * Opens the file that audio will go into, before anything is billed, and checks that there is room for it;
 * undefined where it goes to a stream.
 * @throws Failure (output, exists, usage, state)
 */
export async function openPlanned(
  plan: OutputPlan<Format>,
  options: OpenPlannedOptions,
): Promise<Output | undefined> {
  const { files, processes, state, text } = options;
  const bytes = expectedBytes(text, plan.format);
  await requireSpoolSpace(path.join(state, 'spool'), bytes, files);
  const output = await openFile(plan, options);
  if (output?.temporary === undefined) return output;
  if (processes !== undefined) {
    await sweepTemporaries(path.dirname(output.temporary), { ...options, processes });
  }
  try {
    await requireOutputSpace(output.path, bytes, { files });
    return output;
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

async function openFile(
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
