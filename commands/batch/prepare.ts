import type { InputSource } from '../../src/batch/plan/inputs.ts';
import { inputBytes, findSources, linesOf } from '../../src/batch/plan/inputs.ts';
import { countItems, DEFAULT_TEXT_COLUMN } from '../../src/batch/plan/items.ts';
import type { BatchItem, PlanDefaults, BatchPlanOptions } from '../../src/batch/plan/plan.ts';
import { FirstOwners, parseNameTemplate, planItems } from '../../src/batch/plan/plan.ts';
import type { Shard, ShardChoice } from '../../src/batch/plan/shard.ts';
import { chosenShard, isInShard } from '../../src/batch/plan/shard.ts';
import type { CaptionOptions } from '../../src/batch/run/batch-options.ts';
import type { SubtitleFormat } from '../../src/captions/cue-shape.ts';
import type { CaptionFormat } from '../../src/captions/caption-files.ts';
import type { PreparedBatch } from '../shared/batch/connect-batch.ts';
import type { CheckedItems } from '../shared/batch/connect-batch.ts';
import { sidecarsOf } from '../shared/batch/connect-batch.ts';
import type { Context } from '../../src/cli/command.ts';
import type { RunFlags } from '../shared/flags/batch.ts';
import type { CueFlags } from '../shared/flags/captions.ts';
import { cueShape, readAssStyle, refuseCueFlags } from '../shared/flags/captions.ts';
import type { SoundFlags } from '../shared/flags/sound.ts';
import { soundChanges } from '../shared/flags/sound.ts';
import type { SpeechFlags } from '../shared/flags/speech.ts';
import { controlsToSend } from '../shared/flags/speech.ts';
import { readInput } from '../../src/cli/read-input.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import { sha256 } from '../../src/durable/checksum.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { PronunciationsByVoice } from '../../src/speech/pronunciations.ts';
import type { SpokenTextFlags } from '../../src/speech/speech-text.ts';
import {
  codeFailure,
  dropSoundsFailure,
  openPreparation,
  refuseChapterFlags,
} from '../../src/speech/speech-text.ts';
import { display } from '../../src/text/display.ts';
import { guessLanguage } from '../../src/text/guess-language.ts';
import { markupNotice } from '../../src/text/formats/guess-format.ts';
import type { DocumentFormat } from '../../src/text/formats/text-formats.ts';
import { documentFormat, hasChapters, hasCode } from '../../src/text/formats/text-formats.ts';

export interface BatchFlags extends SpeechFlags, CueFlags, SoundFlags, SpokenTextFlags, RunFlags {
  readonly lines?: string;
  readonly jsonl?: string;
  readonly textColumn?: string;
  readonly recursive: boolean;
  readonly outputDir: string;
  readonly name: string;
  readonly shard?: ShardChoice;
  readonly subtitles?: SubtitleFormat;
  readonly timings?: true;
  readonly redo?: readonly string[];
  readonly redoList?: string;
  readonly overwrite?: true;
  readonly idempotencyNamespace?: string;
  readonly report?: string;
}

/**
 * Checks the flags and all inputs of a batch. Sends nothing.
 * @throws Failure of kind `usage` or `config` for an invalid flag, setting or input. For an invalid input, the message
 * names the file and the line.
 */
export async function prepareBatch(
  context: Context,
  paths: readonly string[],
  flags: BatchFlags,
): Promise<PreparedBatch> {
  refuseFlags(context, paths, flags);
  const { files } = context.system;
  const { signal } = context;
  const {
    code,
    dropSounds,
    jsonl,
    lines,
    onlyChapters,
    outputDir,
    overwrite,
    recursive,
    retryFailed,
    skipFrontMatter,
    textColumn,
    textFormat,
  } = flags;
  const settings = await context.settings();
  const shard = chooseShard(context, flags);
  const template = parseNameTemplate(flags.name);
  const captions = await captionOptions(flags, settings, context);
  const redone = await readRedo(context, flags);
  const readOnce = async (name: string) => {
    const shown = name === '-' ? 'stdin' : name;
    return inputBytes(shown, await readInput(context, name, shown));
  };
  const sources = await findSources(
    { paths, lines, jsonl, recursive, readOnce, textFormat },
    files,
  );
  refuseDocumentFlags(sources, flags);
  const prepare = await openPreparation(flags, settings, context);
  await reportUnusedColumns(context, sources, textColumn);
  const notices = new Set<string>();
  const onNotice = (sentence: string): void => {
    if (!notices.has(sentence)) context.io.notice(`foley: ${sentence}`);
    notices.add(sentence);
  };
  const documents = { code, dropSounds, onlyChapters, onNotice, skipFrontMatter, textFormat };
  const total = await countItems({ ...documents, sources, textColumn }, signal);
  if (total === 0) throw usageFailure('there is no text to speak: the inputs are empty');
  const sidecars = sidecarsOf(captions);
  const defaults = defaultsOf(flags, settings);
  const plan = {
    ...documents,
    sources,
    textColumn,
    prepare,
    template,
    platform: context.system.platform,
    total,
    files,
    signal,
    defaults,
    sidecars,
  };
  return {
    flags,
    shard,
    concurrency: resolveSetting(settings, 'concurrency', flags.concurrency)?.value ?? 4,
    rerun: {
      outputDir,
      outputFlag: '--output-dir',
      overwrite: overwrite === true,
      retriesFailed: retryFailed === true,
      isRedone: (id) => redone.has(id),
    },
    redo:
      redone.size === 0 ? undefined : sha256(JSON.stringify([...redone].toSorted())).slice(0, 32),
    captions,
    ...(await checkPlan(plan, shard, redone)),
    items: (voiceId) => itemsOf({ ...plan, defaults: { ...defaults, voiceId } }, shard, signal),
  };
}

function refuseFlags({ globals }: Context, paths: readonly string[], flags: BatchFlags): void {
  const inputs = [...paths, flags.lines, flags.jsonl, flags.redoList];
  if (inputs.includes('-') && globals.apiKeyFile === '-') {
    throw usageFailure(
      'stdin is used twice: for the texts, and for the key with --api-key-file -',
      'Give one of them in a file.',
    );
  }
  if (flags.creditRate !== undefined && flags.maxCredits === undefined && flags.dryRun !== true) {
    throw usageFailure('--credit-rate requires --max-credits or --dry-run');
  }
}

function refuseDocumentFlags(sources: readonly InputSource[], flags: BatchFlags): void {
  const { code, dropSounds, textFormat } = flags;
  const isSome = (isMeant: (format: DocumentFormat | undefined) => boolean): boolean =>
    sources.some(({ file, kind }) => {
      // A list may name documents.
      const isList = kind === 'csv' || kind === 'jsonl';
      const format = documentFormat(textFormat, kind === 'text' ? file.name : undefined);
      return isMeant(format) || (isList && (textFormat ?? 'auto') === 'auto');
    });
  if (code !== undefined && !isSome(hasCode)) throw codeFailure();
  if (dropSounds === true && !isSome((format) => format === 'subtitles')) throw dropSoundsFailure();
  if (!isSome(hasChapters)) refuseChapterFlags(flags);
}

async function reportUnusedColumns(
  { io }: Context,
  sources: readonly InputSource[],
  textColumn: string | undefined,
): Promise<void> {
  const tables = sources.filter((source) => source.kind === 'csv');
  if (tables.length === 0 && textColumn !== undefined) {
    throw usageFailure(
      '--text-column requires a .csv or .tsv file',
      'Name a table as input, or omit --text-column.',
    );
  }
  for (const { file } of tables) {
    const { openTable } = await import('../../src/batch/plan/table.ts');
    const { ignored } = await openTable(file, textColumn ?? DEFAULT_TEXT_COLUMN);
    const names = ignored.map((name) => `"${display(name)}"`).join(', ');
    if (ignored.length > 0) io.notice(`foley: ${display(file.name)}: columns not used: ${names}`);
  }
}

// Printed with --quiet, too: a shard that nobody expects leaves items unspoken.
function chooseShard({ env, io }: Context, flags: BatchFlags): Shard | undefined {
  const shard = chosenShard(env, flags.shard);
  if (shard === undefined || shard.total === 1) return undefined;
  const { index, total, variable } = shard;
  const origin = variable === undefined ? '' : ` (${variable}); --shard 1/1 speaks all items`;
  io.warn(`foley: shard ${index} of ${total}${origin}`);
  return { index, total };
}

// The voice id is a placeholder: the default voice is looked up later.
function defaultsOf(flags: BatchFlags, settings: SettingSources): PlanDefaults {
  const format = flags.format ?? flags.outputFormat;
  if (format !== undefined && !FILE_FORMATS.some((known) => known === format)) {
    throw usageFailure(`--format is "${format}"; it takes ${FILE_FORMATS.join(', ')}`);
  }
  return {
    voiceId: flags.voice ?? 'voice',
    modelId: resolveSetting(settings, 'model', flags.model)?.value,
    format,
    configuredFormat: resolveSetting(settings, 'format')?.value,
    controls: controlsToSend(flags, settings),
    changes: soundChanges(flags),
  };
}

async function checkPlan(
  options: BatchPlanOptions,
  shard: Shard | undefined,
  redone: ReadonlySet<string>,
): Promise<CheckedItems> {
  let needsVoice = false;
  let items = 0;
  let mayBeMarkup = (options.textFormat ?? 'auto') === 'auto';
  let foreign: CheckedItems['foreign'];
  const missing = new Set(redone);
  const pronunciations = new PronunciationsByVoice();
  const isOurs = shardFilter(shard);
  for await (const item of planItems(options)) {
    options.signal?.throwIfAborted();
    items += 1;
    missing.delete(item.id);
    if (mayBeMarkup) {
      const sentence = markupNotice(item.order.text, `item ${display(item.id)}`);
      if (sentence !== undefined) options.onNotice?.(sentence);
      mayBeMarkup = sentence === undefined;
    }
    if (!isOurs(item)) continue;
    const { order, usesDefaultVoice } = item;
    pronunciations.add(usesDefaultVoice ? { ...order, voiceId: '' } : order);
    if (!usesDefaultVoice) continue;
    needsVoice = true;
    const { language, text } = order;
    if (foreign !== undefined || language !== undefined) continue;
    if (guessLanguage(text) !== undefined) foreign = { id: item.id, text };
  }
  if (items === 0)
    throw usageFailure('there is no text to speak: the inputs have no letters or digits');
  const [first] = missing;
  const total = shard === undefined ? undefined : items;
  if (first === undefined) return { needsVoice, foreign, pronunciations, total };
  throw usageFailure(
    `--redo is "${display(first)}", but no item of this batch has that id`,
    '`foley batch … --dry-run --json` lists the ids.',
  );
}

async function* itemsOf(
  options: BatchPlanOptions,
  shard: Shard | undefined,
  signal: AbortSignal,
): AsyncGenerator<BatchItem, void, undefined> {
  const isOurs = shardFilter(shard);
  for await (const item of planItems(options)) {
    signal.throwIfAborted();
    if (isOurs(item)) yield item;
  }
}

// Identical items are in the same shard, because they are requested only once.
function shardFilter(shard: Shard | undefined): (item: BatchItem) => boolean {
  if (shard === undefined) return () => true;
  const seen = new FirstOwners();
  return ({ index, order, usesDefaultVoice }) => {
    const voiceId = usesDefaultVoice ? undefined : order.voiceId;
    const first = seen.add(JSON.stringify({ ...order, voiceId }), index);
    return isInShard(shard, first ?? index);
  };
}

async function captionOptions(
  flags: BatchFlags,
  settings: SettingSources,
  context: Context,
): Promise<CaptionOptions | undefined> {
  const { subtitles, timings } = flags;
  refuseCueFlags(flags);
  const assStyle = await readAssStyle(flags.assStyle, subtitles === 'ass', context);
  const formats: CaptionFormat[] = subtitles === undefined ? [] : [subtitles];
  if (timings === true) formats.push('json');
  const shape = cueShape(flags, settings);
  return formats.length === 0 ? undefined : { formats, shape, assStyle };
}

async function readRedo(
  context: Context,
  { redo, redoList }: BatchFlags,
): Promise<ReadonlySet<string>> {
  const ids = new Set(redo);
  if (redoList !== undefined) {
    const bytes = await readInput(context, redoList, `--redo-list ${redoList}`);
    for await (const { text } of linesOf(inputBytes('--redo-list', bytes))) ids.add(text.trim());
  }
  return ids;
}
