import path from 'node:path';
import type { Context } from '../../src/cli/command.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { Timings } from '../../src/captions/timings.ts';
import type { Output } from '../../src/durable/output.ts';
import type { BookLine } from '../../src/read-along/make-book.ts';
import { makeReadAlong } from '../../src/read-along/make-book.ts';
import type { RecordingReport } from '../../src/script/memory.ts';
import { describeFiles, recordingFolder, writeMemory } from '../../src/script/memory.ts';
import { counted } from '../../src/text/display.ts';
import { clock } from '../../src/script/report.ts';
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
  const { loudness } = flags;
  const options = { ...context, ...overlay, output, temporaryFolder, loudness };
  const {
    bytes,
    clips,
    documents,
    durationMs,
    hasClass,
    path: file,
  } = await makeReadAlong(lines, options);
  const isTimed = [...timed.values()].every(({ complete }) => complete);
  const report: RecordingReport = {
    event: {
      output: file,
      bytes,
      durationMs,
      overlay: overlay.overlay,
      documents,
      highlights: clips,
      isTimed,
    },
    human: `${file}: ${clock(durationMs)}, ${counted(documents, 'document')}, ${counted(clips, 'highlight')}`,
    warnings: [...(isTimed ? [] : [UNTIMED]), ...(hasClass ? [] : [UNSTYLED])],
    isPartial: !isTimed,
  };
  const files = await describeFiles([file], flags.output, context);
  const made = { key, files, report };
  await writeMemory(flags.output, { ...memory, made }, temporaryFolder, context);
  return showReport(context, report);
}

const UNTIMED =
  'some words have no times, because foley did not find them in the speech; the highlights near them may be early or late';

const UNSTYLED =
  'the read-along book names no class for highlights, because a spoken document has no style sheet; reading systems choose the highlight';
