import path from 'node:path';
import type { Context } from '../../src/cli/command.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { Timings } from '../../src/captions/timings.ts';
import type { Output } from '../../src/durable/output.ts';
import { makeReadAlong } from '../../src/read-along/make-book.ts';
import type { BookLine } from '../../src/read-along/record-book.ts';
import { recordBook } from '../../src/read-along/record-book.ts';
import type { RecordingReport } from '../../src/script/memory.ts';
import { describeFiles, recordingFolder, writeMemory } from '../../src/script/memory.ts';
import { describeReadAlong } from '../shared/read-along.ts';
import type { OverlayPlan } from './overlay-plan.ts';
import type { PreparedScript } from './prepare.ts';
import { showReport } from './show-report.ts';
import { timeLines } from './time-lines.ts';

interface OpenOverlay {
  readonly overlay: OverlayPlan;
  readonly output: Output;
  readonly temporaryFolder: string;
}

/** Makes a read-along book from the spoken lines of a book, and reports it. */
export async function makeOverlay(
  context: Context,
  script: PreparedScript,
  { output, overlay, temporaryFolder }: OpenOverlay,
): Promise<CommandResult> {
  const { flags, key, memory, plan } = script;
  const folder = recordingFolder(flags.output);
  // The audio of a paragraph begins with its first word.
  const timed =
    overlay.overlay === 'paragraph'
      ? new Map<string, Timings>()
      : await timeLines(context, script, temporaryFolder);
  const lines = plan.flatMap(({ item, line, pauseAfterMs, speaker, startMs }): BookLine[] => {
    const audio = path.join(folder, item.output);
    const text = item.spoken?.written ?? item.order.text;
    const timings = timed.get(item.output);
    const { paragraph } = line;
    if (paragraph === undefined) return [];
    return [{ speaker, text, audio, timings, startMs, pauseAfterMs, paragraph }];
  });
  const recordings = path.join(temporaryFolder, 'read-along');
  await context.system.files.mkdir(recordings, { recursive: true });
  const { format } = overlay;
  const { signal, system } = context;
  const options = { system, signal, format, folder: recordings, loudness: flags.loudness };
  const made = await makeReadAlong(recordBook(lines, options), {
    files: context.system.files,
    signal: context.signal,
    ...overlay,
    output,
  }).finally(() => context.system.files.rm(recordings, { recursive: true, force: true }));
  const isTimed = [...timed.values()].every(({ complete }) => complete);
  const { fields, human, warnings } = describeReadAlong(made, overlay.overlay, isTimed);
  const report: RecordingReport = { event: { ...fields }, human, warnings, isPartial: !isTimed };
  const files = await describeFiles([made.path], flags.output, context.system.files);
  const saved = { ...memory, made: { key, files, report } };
  await writeMemory(flags.output, saved, temporaryFolder, context.system);
  return showReport(context, report);
}
