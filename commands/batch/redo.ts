import { createHash } from 'node:crypto';
import { inputBytes, linesOf } from '../../src/batch/plan/input-file.ts';
import type { Context } from '../../src/cli/context.ts';
import { readInput } from '../../src/cli/read-input.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';
import type { BatchFlags } from './batch-flags.ts';

/** The items that are to be bought again. */
export interface Redo {
  readonly ids: ReadonlySet<string>;
  /** The same for the same items; undefined for none. */
  readonly digest: string | undefined;
}

/**
 * The ids of `--redo` and `--redo-list`.
 * @throws Failure (usage)
 */
export async function readRedo(context: Context, flags: BatchFlags): Promise<Redo> {
  const ids = new Set(flags.redo);
  if (flags.redoList !== undefined) {
    const bytes = await readInput(context, flags.redoList, `--redo-list ${flags.redoList}`);
    for await (const { text } of linesOf(inputBytes('--redo-list', bytes))) ids.add(text.trim());
  }
  if (ids.size === 0) return { ids, digest: undefined };
  const digest = createHash('sha256')
    .update(JSON.stringify([...ids].toSorted()))
    .digest('hex');
  return { ids, digest: digest.slice(0, 32) };
}

/** @throws Failure (usage) when something is to be bought again that is no item */
export function checkRedo(missing: ReadonlySet<string>): void {
  const [first] = missing;
  if (first === undefined) return;
  throw usageFailure(
    `--redo names "${display(first)}", and no item has that id`,
    '`foley batch … --dry-run --json` lists the ids.',
  );
}
