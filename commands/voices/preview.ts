import path from 'node:path';
import { Option } from 'commander';
import { extensionOf } from '../../src/audio/formats.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { idOptions, modelOption, speechFormat } from '../shared/flags/speech.ts';
import { addOptions, filled, textOption } from '../../src/cli/flags/values.ts';
import type { IdFlags } from '../shared/flags/speech.ts';
import { folderPlace, PREVIEW_FOLDER } from '../shared/jobs/places.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { planTask } from '../shared/speech/plan.ts';
import { speakTask } from '../shared/speech/speak.ts';
import type { SpeechTask } from '../shared/speech/plan.ts';
import type { AudioFormat } from '../../src/contract/values.ts';
import { downloadName } from '../../src/durable/names.ts';
import type { FailureSummary } from '../../src/errors/failure.ts';
import { usageFailure, Failure } from '../../src/errors/failure.ts';
import type { SpeechDocument } from '../shared/speech/speak.ts';

export interface VoicePreviews {
  readonly items: readonly (SpeechDocument | FailedPreviewDocument)[];
}

/** A voice that could not be previewed. */
interface FailedPreviewDocument {
  readonly voiceId: string;
  readonly output: null;
  readonly error: FailureSummary;
}

const TEXT = 'Hello. This is how I sound when I read a line to you.';

export const definition: CommandDefinition<PreviewFlags, VoicePreviews> = {
  configure(command) {
    command
      .description(
        'Speaks a sample line with each voice, into files named after the voice ids or through a player. ' +
          'Billed as speech.',
      )
      .argument('<id...>', 'voice ids')
      .addHelpText('after', EXAMPLES);
    const format = new Option('--format <format>', 'format of the files (default: mp3)');
    addOptions(command, [
      textOption('--text <text>', 'sample line').default(TEXT, 'a greeting'),
      textOption('--output-dir <folder>', 'folder for the files (default: the current one)'),
      new Option('--play', 'play the voices in turn; without --output-dir, write no files'),
      textOption('--player <command>', 'player program that reads stdin'),
      modelOption('each voice’s default model'),
      format.argParser(speechFormat('--format')),
      ...idOptions('key that makes a repeated request free; one voice only'),
    ]);
  },
  async run(context, { args, options }) {
    const ids = [...new Set(args.map((id) => filled('ID')(id)))];
    refuseSharedIds(ids, options);
    return previewVoices(context, ids, options);
  },
};

const EXAMPLES = `
Examples:
  $ foley voices preview … --output-dir previews
  $ foley voices preview … --text "The doors are closing." --play`;

// Each voice is a separate request.
function refuseSharedIds(
  ids: readonly string[],
  { idempotencyKey, requestId }: PreviewFlags,
): void {
  if (ids.length === 1) return;
  if (idempotencyKey === undefined && requestId === undefined) return;
  const flag = idempotencyKey === undefined ? '--request-id' : '--idempotency-key';
  throw usageFailure(
    `${flag} is for one request, but ${ids.length} voices are given`,
    'Name one voice, or omit the flag.',
  );
}

interface PreviewFlags extends IdFlags {
  readonly text: string;
  readonly outputDir?: string;
  readonly play?: true;
  readonly player?: string;
  readonly model?: string;
  readonly format?: AudioFormat;
}

// Checks all voices before it sends anything, and continues after a voice fails.
async function previewVoices(
  context: Context,
  ids: readonly string[],
  flags: PreviewFlags,
): Promise<CommandResult<VoicePreviews>> {
  const folder = flags.outputDir;
  if (folder !== undefined) await folderPlace(context, folder, PREVIEW_FOLDER);
  const tasks: SpeechTask[] = [];
  for (const id of ids) tasks.push(await planPreview(context, id, flags));
  const items: (SpeechDocument | FailedPreviewDocument)[] = [];
  const failed: FailedPreview[] = [];
  for (const [index, task] of tasks.entries()) {
    const voiceId = ids[index] ?? '';
    const preview = await speakPreview(task);
    if (preview instanceof Failure) {
      failed.push({ voiceId, failure: preview });
      items.push({ voiceId, output: null, error: preview.summary });
      if (STOPS.has(preview.exit)) break;
    } else items.push(preview);
  }
  return { data: { items }, ...conclude(context, failed, ids.length) };
}

interface FailedPreview {
  readonly voiceId: string;
  readonly failure: Failure;
}

// With these failures, the previews of all other voices would fail too.
const STOPS = new Set<Failure['exit']>(['auth', 'credits']);

async function planPreview(context: Context, id: string, flags: PreviewFlags): Promise<SpeechTask> {
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

async function speakPreview(task: SpeechTask): Promise<SpeechDocument | Failure> {
  try {
    return (await speakTask(task)).data;
  } catch (error) {
    task.context.signal.throwIfAborted();
    if (error instanceof Failure) return error;
    throw error;
  }
}

function conclude(
  { io }: Context,
  failed: readonly FailedPreview[],
  count: number,
): CommandResult<VoicePreviews> {
  const last = failed.at(-1)?.failure;
  if (last === undefined) return {};
  const isOver = failed.length === count || STOPS.has(last.exit);
  for (const { failure, voiceId } of failed) {
    if (!isOver || failure !== last) io.warn(`foley: ${voiceId}: ${failure.message}`);
  }
  return isOver ? { failure: last } : { exit: 'partial' };
}
