import path from 'node:path';
import { recordOf } from '../../src/batch/report/report.ts';
import type { Context } from '../../src/cli/command.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { RecordingReport } from '../../src/script/memory.ts';
import { recordingFolder } from '../../src/script/memory.ts';
import { itemsOf } from '../../src/script/plan-lines.ts';
import { counted, toJson } from '../../src/text/display.ts';
import type { PreparedScript } from './prepare.ts';
import type { BatchEvent } from '../shared/batch/events.ts';
import { writeEvent } from '../shared/batch/events.ts';

/** Prints the report of a recording: with `--json` as an event, otherwise as text with warnings. */
export async function showReport(
  { globals, io }: Context,
  { event, human, isPartial, warnings }: RecordingReport,
): Promise<CommandResult> {
  if (globals.json === true) await io.writeOut(`${toJson({ event: 'recording', ...event })}\n`);
  else for (const warning of warnings) io.warn(`foley: ${warning}`);
  return { human: () => human, exit: isPartial ? 'partial' : 'ok' };
}

/** Prints the report of a recording that was already up to date. */
export async function showUnchanged(
  context: Context,
  { flags: { output }, plan }: PreparedScript,
  report: RecordingReport,
): Promise<CommandResult> {
  const items = itemsOf(plan);
  const skipped = items.length;
  const print = async (event: BatchEvent): Promise<void> => {
    if (context.globals.json === true) await writeEvent(context.io, event);
  };
  const nothing = { toSpeak: 0, toFetch: 0, toReuse: 0, failed: 0, characters: 0 };
  await print({ event: 'plan', items: skipped, skipped, ...nothing, estimatedCredits: 0 });
  for (const item of items) {
    const file = path.join(recordingFolder(output), item.output);
    const done = { item, status: 'skipped', output: file, creditsUsed: null } as const;
    await print({ event: 'item', ...recordOf({ ...done, error: undefined, unspoken: [] }) });
  }
  const result = await showReport(context, report);
  await print({ event: 'summary', done: 0, failed: 0, skipped, creditsUsed: 0, notTried: 0 });
  const human = (): string => `${output} is up to date: ${counted(skipped, 'text')} unchanged`;
  return { ...result, human };
}
