import path from 'node:path';
import type { BatchProduct } from '../shared/batch/connect-batch.ts';
import { performBatch } from '../shared/batch/perform.ts';
import type { Context } from '../../src/cli/command.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { openOutput } from '../../src/durable/publish.ts';
import { outputFailure, hasErrno } from '../../src/durable/file-failures.ts';
import { describeFiles, recordingFolder, writeMemory } from '../../src/script/memory.ts';
import { reportOf } from '../../src/script/report.ts';
import type { OpenRecording, SpokenLine } from '../../src/script/recording/recording.ts';
import { SAMPLE_RATE } from '../../src/script/recording/line-sound.ts';
import { checkLength, openRecording } from '../../src/script/recording/recording.ts';
import type { OverlayPlan } from './overlay-plan.ts';
import type { PreparedScript } from './prepare.ts';
import { showReport } from './show-report.ts';
import { timeLines } from './time-lines.ts';

/** Speaks the lines of a script whose audio is missing or outdated, and mixes all lines into the recording. */
export async function makeScript(context: Context, script: PreparedScript): Promise<CommandResult> {
  const { batch } = script;
  const { outputDir } = batch.rerun;
  const made = await context.system.files.mkdir(outputDir).catch((error: unknown) => {
    if (hasErrno(error, 'EEXIST')) return 'exists';
    throw outputFailure(script.flags.output, error, 'opening');
  });
  const openProduct = (temporaries: string) =>
    script.overlay === undefined
      ? openProductOf(context, script, temporaries)
      : openReadAlong(context, script, script.overlay, temporaries);
  return performBatch(context, { ...batch, isNewFolder: made === undefined, openProduct });
}

async function openReadAlong(
  context: Context,
  script: PreparedScript,
  overlay: OverlayPlan,
  temporaryFolder: string,
): Promise<BatchProduct> {
  const output = await openOutput(context.system, {
    signal: context.signal,
    path: script.flags.output,
    temporaryFolder,
  });
  return {
    abandon: () => output.abandon(),
    make: async () => {
      const { makeOverlay } = await import('./make-overlay.ts');
      return makeOverlay(context, script, { overlay, output, temporaryFolder });
    },
  };
}

async function openProductOf(
  context: Context,
  script: PreparedScript,
  temporaryFolder: string,
): Promise<BatchProduct> {
  const { captions, flags, format, plan, tags } = script;
  const { chapters, loudness, output, stems, timing = 'stretch' } = flags;
  const speakers = plan.map(({ speaker }) => speaker);
  const latestMs = plan.reduce((latest, { startMs = 0 }) => Math.max(latest, startMs), 0);
  checkLength((latestMs / 1_000) * SAMPLE_RATE, format, stems !== undefined);
  const recording = await openRecording({
    system: context.system,
    signal: context.signal,
    path: output,
    format,
    temporaryFolder,
    timing,
    endPauseMs: plan.at(-1)?.pauseAfterMs,
    tags,
    chapterFiles: chapters,
    captions,
    stems: stems === undefined ? undefined : { folder: stems, speakers },
    loudness,
  });
  return {
    abandon: () => recording.abandon(),
    make: () => makeRecording(context, script, recording, temporaryFolder),
  };
}

async function makeRecording(
  context: Context,
  script: PreparedScript,
  open: OpenRecording,
  temporaryFolder: string,
): Promise<CommandResult> {
  const { captions, flags, key, memory, plan } = script;
  const outputDir = recordingFolder(flags.output);
  const timed =
    captions === undefined ? undefined : await timeLines(context, script, temporaryFolder);
  const lines = plan.map(({ chapter, endMs, item, pauseAfterMs, speaker, startMs }): SpokenLine => {
    const audio = path.join(outputDir, item.output);
    const text = item.spoken?.written ?? item.order.text;
    const timings = timed?.get(item.output);
    return { speaker, text, audio, timings, startMs, endMs, pauseAfterMs, chapter };
  });
  const recording = await open.make(lines);
  const report = reportOf(recording, plan, flags.loudness);
  const files = await describeFiles(recording.files, flags.output, context.system.files);
  const made = { key, files, report };
  await writeMemory(flags.output, { ...memory, made }, temporaryFolder, context.system);
  return showReport(context, report);
}
