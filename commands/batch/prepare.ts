import { createHash } from 'node:crypto';
import { inputBytes, findSources, linesOf } from '../../src/batch/plan/inputs.ts';
import type { Source } from '../../src/batch/plan/inputs.ts';
import { countItems, DEFAULT_TEXT_COLUMN } from '../../src/batch/plan/items.ts';
import { parseNameTemplate } from '../../src/batch/plan/name-template.ts';
import { Fingerprints, planItems } from '../../src/batch/plan/plan.ts';
import type { BatchItem, PlanDefaults, PlanOptions } from '../../src/batch/plan/plan.ts';
import type { Shard } from '../../src/batch/plan/shard.ts';
import { isInShard, shardOfEnvironment } from '../../src/batch/plan/shard.ts';
import type { CaptionWishes } from '../../src/batch/run/aligned-speaker.ts';
import { captionNames } from '../../src/batch/run/aligned-speaker.ts';
import type { CaptionFormat } from '../../src/captions/caption-files.ts';
import type { Context } from '../../src/cli/command.ts';
import { cueShape } from '../../src/cli/flags/captions.ts';
import { controlsToSend } from '../../src/cli/flags/speech.ts';
import { readInput } from '../../src/cli/read-input.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import { SPEECH_FORMATS } from '../../src/contract/generated/speech-controls.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';
import type { BatchFlags } from './batch-flags.ts';

/** A batch whose inputs are all in order; nothing was asked of a service. */
export interface PreparedBatch {
  readonly flags: BatchFlags;
  readonly shard: Shard | undefined;
  readonly concurrency: number;
  readonly redo: Redo;
  /** Items are spoken over the aligned stream then, else as jobs. */
  readonly captions: CaptionWishes | undefined;
  readonly needsVoice: boolean;
  /** The items of the share, read anew each time. */
  items(voiceId: string): AsyncGenerator<BatchItem, void, undefined>;
}

/**
 * Looks at everything that can be wrong with the inputs and the flags.
 * @throws Failure (usage, config) naming the place
 */
export async function prepareBatch(
  context: Context,
  paths: readonly string[],
  flags: BatchFlags,
): Promise<PreparedBatch> {
  refuseFlags(context, paths, flags);
  const settings = await context.settings();
  const shard = shardOf(context, flags);
  const template = parseNameTemplate(flags.name);
  const captions = captionWishes(flags, settings);
  const redo = await readRedo(context, flags);
  const sources = await findSources(
    {
      paths,
      lines: flags.lines,
      jsonl: flags.jsonl,
      recursive: flags.recursive,
      readOnce: async (name) => {
        const shown = name === '-' ? 'stdin' : name;
        return inputBytes(shown, await readInput(context, name, shown));
      },
    },
    context.files,
  );
  await tellIgnoredColumns(context, sources, flags);
  const { textColumn } = flags;
  const total = await countItems(sources, textColumn);
  if (total === 0) throw usageFailure('there is nothing to speak: the inputs are empty');
  const defaults = defaultsOf(flags, settings);
  const besides = (output: string) => captionNames(output, captions?.formats ?? []);
  const options = { sources, textColumn, template, total, files: context.files, defaults, besides };
  const facts = await checkPlan(options, shard, redo, context.signal);
  return {
    flags,
    shard,
    concurrency: resolveSetting(settings, 'concurrency', flags.concurrency)?.value ?? 4,
    redo,
    captions,
    ...facts,
    items: (voiceId) =>
      itemsOf({ ...options, defaults: { ...options.defaults, voiceId } }, shard, context.signal),
  };
}

function refuseFlags({ globals }: Context, paths: readonly string[], flags: BatchFlags): void {
  const readsStdin = [...paths, flags.lines, flags.jsonl, flags.redoList].filter(
    (name) => name === '-',
  );
  if (readsStdin.length > 0 && globals.apiKeyFile === '-') {
    throw usageFailure(
      'stdin is asked for twice: for the texts, and for the key with --api-key-file -',
      'Give one of them in a file.',
    );
  }
  if (flags.creditRate !== undefined && flags.maxCredits === undefined && flags.dryRun !== true) {
    throw usageFailure('--credit-rate means something only with --max-credits or --dry-run');
  }
}

/** @throws Failure (usage) for `--text-column` without a table, and for a table that has none such */
async function tellIgnoredColumns(
  { io }: Context,
  sources: readonly Source[],
  { textColumn }: BatchFlags,
): Promise<void> {
  const tables = sources.filter((source) => source.kind === 'csv');
  if (tables.length === 0 && textColumn !== undefined) {
    throw usageFailure('--text-column requires a .csv file', 'Name one, or leave the flag out.');
  }
  for (const { file } of tables) {
    const { openTable } = await import('../../src/batch/plan/table.ts');
    const { ignored } = await openTable(file, textColumn ?? DEFAULT_TEXT_COLUMN);
    const names = ignored.map((name) => `"${display(name)}"`).join(', ');
    if (ignored.length > 0) io.notice(`foley: ${display(file.name)}: columns not used: ${names}`);
  }
}

function shardOf({ env, io }: Context, { shard }: BatchFlags): Shard | undefined {
  if (shard !== undefined) return shard;
  const found = shardOfEnvironment(env);
  if (found === undefined || found.total === 1) return undefined;
  const { index, total, variable } = found;
  io.notice(
    `foley: share ${index} of ${total}, as ${variable} says; --shard 1/1 speaks everything`,
  );
  return { index, total };
}

/** The voice is looked up later: its name does not decide whether two outputs are one. */
function defaultsOf(
  flags: BatchFlags,
  settings: Awaited<ReturnType<Context['settings']>>,
): PlanDefaults {
  const format = flags.format ?? flags.outputFormat;
  if (format !== undefined && !SPEECH_FORMATS.some((known) => known === format)) {
    throw usageFailure(`--format is "${format}"; it takes ${SPEECH_FORMATS.join(', ')}`);
  }
  return {
    voiceId: flags.voice ?? 'voice',
    modelId: resolveSetting(settings, 'model', flags.model)?.value,
    format,
    configuredFormat: resolveSetting(settings, 'format')?.value,
    controls: controlsToSend(flags, settings),
  };
}

async function checkPlan(
  options: PlanOptions,
  shard: Shard | undefined,
  redo: Redo,
  signal: AbortSignal,
): Promise<{ readonly needsVoice: boolean }> {
  let needsVoice = false;
  const missing = new Set(redo.ids);
  const isOurs = shareOf(shard);
  for await (const item of planItems(options)) {
    signal.throwIfAborted();
    missing.delete(item.id);
    if (isOurs(item)) needsVoice ||= item.usesDefaultVoice;
  }
  checkRedo(missing);
  return { needsVoice };
}

async function* itemsOf(
  options: PlanOptions,
  shard: Shard | undefined,
  signal: AbortSignal,
): AsyncGenerator<BatchItem, void, undefined> {
  const isOurs = shareOf(shard);
  for await (const item of planItems(options)) {
    signal.throwIfAborted();
    if (isOurs(item)) yield item;
  }
}

/** Whether an item belongs to a share; equal items go with the first of them, since they are bought once. */
function shareOf(shard: Shard | undefined): (item: BatchItem) => boolean {
  if (shard === undefined) return () => true;
  const seen = new Fingerprints();
  return ({ index, order, usesDefaultVoice }) => {
    const voiceId = usesDefaultVoice ? undefined : order.voiceId;
    const first = seen.add(JSON.stringify({ ...order, voiceId }), index);
    return isInShard(shard, first ?? index);
  };
}

const CUE_FLAGS = [
  ['cueMaxChars', '--cue-max-chars'],
  ['cueMaxLines', '--cue-max-lines'],
  ['cueMaxDuration', '--cue-max-duration'],
  ['cueMinDuration', '--cue-min-duration'],
  ['cueBy', '--cue-by'],
] as const;

/**
 * The captions that every item gets; undefined for none.
 * @throws Failure (usage) for flags that do not go together
 */
export function captionWishes(
  flags: BatchFlags,
  settings: SettingSources,
): CaptionWishes | undefined {
  const { subtitles, timings } = flags;
  const cue = CUE_FLAGS.find(([name]) => flags[name] !== undefined);
  if (cue !== undefined && subtitles === undefined) {
    throw usageFailure(
      `${cue[1]} says how cues are cut, and there are no --subtitles`,
      'Ask for them with --subtitles srt, or leave it out.',
    );
  }
  const formats: readonly CaptionFormat[] = [
    ...(subtitles === undefined ? [] : [subtitles]),
    ...(timings === true ? (['json'] as const) : []),
  ];
  return formats.length === 0 ? undefined : { formats, shape: cueShape(flags, settings) };
}

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
