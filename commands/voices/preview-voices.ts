import path from 'node:path';
import { extensionOf } from '../../src/audio/formats.ts';
import type { Context } from '../../src/cli/context.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import type { AudioFormat } from '../../src/contract/audio-formats.ts';
import { Failure } from '../../src/errors/failure.ts';
import { downloadName } from '../../src/files/names.ts';
import { folderPlace } from '../jobs/places.ts';
import type { IdFlags } from '../request-flags.ts';
import type { Task } from '../tts-task.ts';
import { planTask, speakTask } from '../tts-task.ts';

export interface PreviewFlags extends Pick<IdFlags, 'idempotencyKey' | 'requestId'> {
  readonly text: string;
  readonly outputDir?: string;
  readonly play?: true;
  readonly player?: string;
  readonly model?: string;
  readonly format?: AudioFormat;
}

/**
 * Speaks one line with each voice, one after the other; everything that can be checked is checked before
 * the first is billed. A voice that fails keeps none of the others from speaking.
 * @throws Failure (usage, output) before anything was sent
 */
export async function previewVoices(
  context: Context,
  ids: readonly string[],
  flags: PreviewFlags,
): Promise<CommandResult> {
  const folder = flags.outputDir;
  if (folder !== undefined) await folderPlace(context, folder, FOLDER);
  const tasks: Task[] = [];
  for (const id of ids) tasks.push(await planPreview(context, id, flags));
  const items: unknown[] = [];
  const failed: FailedPreview[] = [];
  for (const [index, task] of tasks.entries()) {
    const preview = await speakPreview(task);
    if (preview instanceof Failure) failed.push({ voiceId: ids[index] ?? '', failure: preview });
    items.push(preview instanceof Failure ? failedItem(ids[index] ?? '', preview) : preview.data);
    if (preview instanceof Failure && STOPS.has(preview.exit)) break;
  }
  return { data: { items }, ...conclude(context, failed, ids.length) };
}

interface FailedPreview {
  readonly voiceId: string;
  readonly failure: Failure;
}

const FOLDER = {
  flag: '--output-dir',
  why: 'previews need a folder',
  hint: 'Name a folder, or leave it out.',
};

/** What is wrong for one voice is wrong for all of them. */
const STOPS = new Set<Failure['exit']>(['auth', 'credits']);

async function planPreview(context: Context, id: string, flags: PreviewFlags): Promise<Task> {
  const { outputDir, text, ...speech } = flags;
  const task = await planTask(context, {
    args: [text],
    options: { ...speech, voice: id, clobber: true },
  });
  const isHeardOnly = task.player !== undefined && outputDir === undefined;
  if (isHeardOnly && context.globals.json !== true) return task;
  const { format } = task.plan;
  const file = path.join(outputDir ?? '', downloadName(id, extensionOf(format)));
  return { ...task, plan: { kind: 'automatic', format, path: file } };
}

async function speakPreview(task: Task): Promise<CommandResult | Failure> {
  try {
    return await speakTask(task);
  } catch (error) {
    task.context.signal.throwIfAborted();
    if (error instanceof Failure) return error;
    throw error;
  }
}

function failedItem(voiceId: string, { code, exitCode, message }: Failure): object {
  return { voiceId, output: null, error: { code, message, exitCode } };
}

/** The last failure is told as that of the command where nothing was spoken or nothing more can be. */
function conclude(
  { io }: Context,
  failed: readonly FailedPreview[],
  count: number,
): Pick<CommandResult, 'exit' | 'failure'> {
  const last = failed.at(-1)?.failure;
  if (last === undefined) return {};
  const isOver = failed.length === count || STOPS.has(last.exit);
  for (const { failure, voiceId } of failed) {
    if (!isOver || failure !== last) io.warn(`foley: ${voiceId}: ${failure.message}`);
  }
  return isOver ? { failure: last } : { exit: 'partial' };
}
