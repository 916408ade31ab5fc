import type { Stats } from 'node:fs';
import path from 'node:path';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { checksumOf } from '../../durable/checksum.ts';
import { hasErrno, outputFailure } from '../../durable/file-failures.ts';
import { containedPath } from '../../durable/names.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { counted, display } from '../../text/display.ts';
import type { JournalIndex, KnownFile, ItemStatus, ItemFacts } from '../journal/journal.ts';
import { bodyDigest } from '../journal/keys.ts';
import { FirstOwners, foldedName } from '../plan/plan.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { AudioLookup, ReuseTarget } from './reuse-audio.ts';
import { isInFolder, unchangedFile } from './reuse-audio.ts';

export interface ClassifiedItem extends Pick<ReuseTarget, 'displaced' | 'isNew'> {
  readonly item: BatchItem;
  readonly body: string;
  readonly decision: Decision;
}

export interface RerunOptions {
  readonly outputDir: string;
  /** Whether files that the batch did not make may be replaced. */
  readonly overwrite: boolean;
  readonly retriesFailed: boolean;
  readonly isRedone: (id: string) => boolean;
}

export interface ClassifyOptions extends AudioLookup, RerunOptions {
  readonly bodyOf: (order: SpeechOrder) => Uint8Array;
  readonly origin: string;
  /** Token of this `--redo` command, or of an interrupted command with the same value of `--redo`. */
  readonly redoToken: string | undefined;
}

/**
 * Decides what to do with each item, from the journal and the output files. Sends nothing. Of several equal items,
 * only the first is spoken or fetched.
 * @throws Failure (output, usage; exists for a file that the batch did not make)
 */
export async function* classifyItems(
  items: AsyncIterable<BatchItem>,
  options: ClassifyOptions,
): AsyncGenerator<ClassifiedItem, void, undefined> {
  const purchases = new FirstOwners();
  const inspector = new OutputInspector(options);
  for await (const item of items) {
    const classified = await classify(item, inspector, options);
    const purchase = purchaseOf(classified);
    const first = purchase === undefined ? undefined : purchases.add(purchase, item.index);
    const { status } = classified.decision;
    yield first === undefined
      ? classified
      : { ...classified, decision: { kind: 'share', of: first, status } };
  }
}

function purchaseOf({ body, decision }: ClassifiedItem): string | undefined {
  if (decision.kind === 'speak') return `${body} ${decision.generation}`;
  return decision.kind === 'fetch' ? (decision.status.facts.jobId ?? '') : undefined;
}

/** Returns a Markdown item as an earlier version requested it, if the journal knows that request only. */
function asRequested(item: BatchItem, { bodyOf, index, isRedone }: ClassifyOptions): BatchItem {
  const { rawText: text, spoken: _, ...rest } = item;
  if (text === undefined || isRedone(item.id)) return item;
  const order = { ...item.order, text };
  const isKnown = (one: SpeechOrder): boolean =>
    index.statusOf(item.id, bodyDigest(bodyOf(one))) !== undefined;
  if (isKnown(item.order) || !isKnown(order)) return item;
  return { ...rest, order, characters: countCodePoints(text) };
}

async function classify(
  planned: BatchItem,
  inspector: OutputInspector,
  options: ClassifyOptions,
): Promise<ClassifiedItem> {
  const { index, overwrite, redoToken } = options;
  const item = asRequested(planned, options);
  const body = bodyDigest(options.bodyOf(item.order));
  const status = index.statusOf(item.id, body);
  const state = await inspector.inspect(item, status?.facts);
  if (state.kind === 'foreign' && !overwrite) throw foreignOutput(item);
  let hasAll = true;
  for (const output of options.sidecars(item.output)) {
    const sidecar = { output, source: item.source };
    const { kind } = await inspector.inspect(sidecar);
    if (kind === 'foreign' && !overwrite) throw foreignOutput(sidecar);
    hasAll &&= kind !== 'missing';
  }
  const wasRedone = redoToken !== undefined && status?.about?.redo === redoToken;
  const isNamed = options.isRedone(item.id);
  const sha256 = state.kind === 'known' && hasAll ? state.file.sha256 : undefined;
  const isPresent = sha256 !== undefined && sha256 === status?.facts.sha256;
  const hasOther = !isPresent && !isNamed && sha256 !== undefined && index.isAudioOf(body, sha256);
  const mayMove = !isPresent && (status?.state === 'verified' || status?.state === 'published');
  const decision: Decision =
    hasOther &&
    status !== undefined &&
    status.item !== item.id &&
    status.about?.output !== item.output
      ? // Equal items may have been requested separately: the audio at the output is as good as the other.
        { kind: 'skip', status }
      : decide({
          ...options,
          status,
          lastGeneration: index.lastGeneration(body),
          isPresent,
          isElsewhere: mayMove && (await isInFolder(status, item.output, options)),
          isRedone: isNamed && !wasRedone,
        });
  const isDisplaced = state.kind === 'known' && !index.isAudioOf(body, state.file.sha256);
  const displaced = isDisplaced ? state.file : undefined;
  return { item, body, decision, isNew: state.kind === 'missing', displaced };
}

type Classified = AsyncGenerator<ClassifiedItem, void, undefined>;

const RETAINED_CHARACTERS = 4_000_000;
const ITEM_CHARACTERS = 400;

/**
 * Yields the classified items several times: from memory if they are few, else by classifying all items again.
 * @param read classifies all items on each call
 * @returns `first`, which reads the items for the first time, and `again`, for every later time
 */
export function retainItems(read: () => Classified) {
  let retained: readonly ClassifiedItem[] | undefined;
  return {
    async *first(): Classified {
      retained = undefined;
      let all: ClassifiedItem[] | undefined = [];
      let size = 0;
      for await (const one of read()) {
        size += one.item.characters + ITEM_CHARACTERS;
        if (size > RETAINED_CHARACTERS) all = undefined;
        all?.push(one);
        yield one;
      }
      retained = all;
    },
    async *again(): Classified {
      if (retained === undefined) yield* read();
      else yield* retained;
    },
  };
}

type Decision =
  /** Nothing to do: the audio is at its output and unchanged. */
  | { readonly kind: 'skip'; readonly status: ItemStatus }
  /** Send the request with this generation number; `status` is its journaled state, if any. */
  | {
      readonly kind: 'speak';
      readonly generation: number;
      readonly status: ItemStatus | undefined;
      readonly isAgain: boolean;
    }
  /** The audio is in the output folder under another name, and is moved or copied. */
  | { readonly kind: 'reuse'; readonly status: ItemStatus }
  /** The audio of an equal item, whose number is `of`, is used for this item too. */
  | { readonly kind: 'share'; readonly of: number; readonly status: ItemStatus | undefined }
  /** The item was billed before; its job has the audio, or will have it. */
  | { readonly kind: 'fetch'; readonly status: ItemStatus }
  /** Nothing is done unless the user passes a flag such as `--retry-failed`. */
  | { readonly kind: 'ended'; readonly status: ItemStatus; readonly why: StopReason };

export type StopReason =
  /** The job failed and was refunded. */
  | 'failed'
  /** Only part of the audio exists. */
  | 'partial'
  /** The item was billed, and the audio can no longer be downloaded. */
  | 'lost'
  /** The item was billed at another service, which has the audio. */
  | 'elsewhere';

export interface DecisionFacts extends Pick<RerunOptions, 'retriesFailed'> {
  /** The state of the request that supplies or may supply the item's audio; undefined if there is none. */
  readonly status: ItemStatus | undefined;
  /** Highest generation number of the item's request body; -1 if the body was never requested. */
  readonly lastGeneration: number;
  /** Whether the item's output, with all caption files, contains the recorded audio. */
  readonly isPresent: boolean;
  /** Whether the recorded audio is in the output folder under another name. */
  readonly isElsewhere: boolean;
  /** Whether `--redo` names the item and no new request was sent for the item yet. */
  readonly isRedone: boolean;
  readonly origin: string;
}

/**
 * Decides what to do with an item (docs/batch.md). Unfinished requests continue under the same key, billed audio is
 * fetched, and only `--redo` and `--retry-failed` pay for an item twice.
 */
export function decide(facts: DecisionFacts): Decision {
  const { isRedone, lastGeneration, retriesFailed, status } = facts;
  if (status === undefined) return { kind: 'speak', generation: 0, status, isAgain: false };
  const usual = decideKnown(status, facts);
  const isOpen = usual.kind === 'speak' || (usual.kind === 'fetch' && status.state === 'accepted');
  const isFailure = usual.kind === 'ended' && usual.why !== 'elsewhere';
  if (isRedone ? !isOpen : retriesFailed && isFailure) {
    return { kind: 'speak', generation: lastGeneration + 1, status: undefined, isAgain: true };
  }
  return usual;
}

function decideKnown(
  status: ItemStatus,
  { isElsewhere, isPresent, origin }: DecisionFacts,
): Decision {
  const { facts, generation } = status;
  switch (status.state) {
    case 'planned':
      return { kind: 'speak', generation, status, isAgain: false };
    // A stream that was interrupted after it may have been billed cannot be repeated, unless it was refused.
    case 'sent':
      return facts.isRefused === true
        ? { kind: 'speak', generation, status, isAgain: false }
        : { kind: 'ended', status, why: 'lost' };
    case 'failed':
    case 'lost':
      return { kind: 'ended', status, why: status.state };
    case 'accepted':
      return fetchFrom(origin, status);
    case 'verified':
    case 'published':
      if (!isPresent) return isElsewhere ? { kind: 'reuse', status } : fetchFrom(origin, status);
      if (facts.isPartial === true) return { kind: 'ended', status, why: 'partial' };
      return { kind: 'skip', status };
  }
}

/** Decides how to get a billed request's audio, which is not in the output folder. */
export function fetchFrom(origin: string, status: ItemStatus): Decision {
  if (status.facts.jobId === undefined) return { kind: 'ended', status, why: 'lost' };
  const isHere = status.about === undefined || status.about.origin === origin;
  return isHere ? { kind: 'fetch', status } : { kind: 'ended', status, why: 'elsewhere' };
}

type OutputState =
  | { readonly kind: 'missing' }
  /** An unchanged file of this batch. */
  | { readonly kind: 'known'; readonly file: KnownFile }
  /** A file of a killed process: the journal contains its name, but not its hash. */
  | { readonly kind: 'ours' }
  /** A file that the batch did not make. */
  | { readonly kind: 'foreign' };

type Place = Pick<BatchItem, 'output' | 'source'>;

/** Compares output files with the journal. Lists each folder once. */
export class OutputInspector {
  readonly #options: Pick<AudioLookup, 'files' | 'index' | 'outputDir'>;
  readonly #namesIn = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(options: Pick<AudioLookup, 'files' | 'index' | 'outputDir'>) {
    this.#options = options;
  }

  /**
   * Returns whether an output file exists and, if so, whether the batch made it.
   * @param audio audio of the item; a file with this audio counts as known
   * @throws Failure (usage, output) for a folder, or a link that leads out of the output folder
   */
  async inspect(
    { output, source }: Place,
    audio: Pick<ItemFacts, 'bytes' | 'sha256'> = {},
  ): Promise<OutputState> {
    const { files, index, outputDir } = this.#options;
    const folder = path.posix.dirname(output);
    const known = this.#namesIn.get(folder) ?? this.#readNames(folder);
    this.#namesIn.set(folder, known);
    if (!(await known).has(foldedName(path.posix.basename(output)))) return { kind: 'missing' };
    const file = path.join(outputDir, output);
    const stats = await statsOf(outputDir, output, files);
    if (stats === undefined) return { kind: 'missing' };
    if (stats.isDirectory()) {
      throw usageFailure(`${source}: its output ${display(file)} is a folder`);
    }
    if (!stats.isFile()) return { kind: 'foreign' };
    const state = await compare(file, stats, index.filesAt(output), this.#options);
    const { bytes, sha256 } = audio;
    if (state.kind === 'known' || sha256 === undefined || bytes !== stats.size) return state;
    const isIts = (await digestOf(file, files)) === sha256;
    return isIts ? { kind: 'known', file: { sha256, bytes, mtimeMs: undefined } } : state;
  }

  // Folded, because the file system may have changed case or accents.
  async #readNames(folder: string): Promise<ReadonlySet<string>> {
    const { files, outputDir } = this.#options;
    if (folder !== '.') await containedPath(outputDir, folder, files);
    const dir = path.join(outputDir, folder);
    try {
      return new Set((await files.readdir(dir)).map((name) => foldedName(name)));
    } catch (error) {
      if (hasErrno(error, 'ENOENT')) return new Set();
      throw outputFailure(dir, error, 'opening', '--output-dir');
    }
  }
}

async function statsOf(
  outputDir: string,
  output: string,
  files: FileSystem,
): Promise<Stats | undefined> {
  const file = path.join(outputDir, output);
  try {
    const stats = await files.lstat(file);
    if (!stats.isSymbolicLink()) return stats;
    return await files.stat(await containedPath(outputDir, output, files));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw outputFailure(file, error, 'opening', '--output-dir');
  }
}

async function compare(
  file: string,
  stats: Stats,
  known: readonly KnownFile[] | undefined,
  { files, index }: { readonly files: FileSystem; readonly index: JournalIndex },
): Promise<OutputState> {
  if (known === undefined) return { kind: 'foreign' };
  if (known.length === 0) return { kind: 'ours' };
  const only = unchangedFile(known, stats);
  if (only !== undefined) return { kind: 'known', file: only };
  const sha256 = await digestOf(file, files);
  // A killed run may have left audio of another item that it was about to replace.
  if (index.outputsOf(sha256).length === 0) return { kind: 'foreign' };
  return { kind: 'known', file: { sha256, bytes: stats.size, mtimeMs: undefined } };
}

function digestOf(file: string, files: FileSystem): Promise<string> {
  return checksumOf(file, 'sha256', files).catch((error: unknown) => {
    throw outputFailure(file, error, 'opening', '--output-dir');
  });
}

function foreignOutput({ output, source }: Place): Failure {
  return new Failure(
    `${source}: its output ${display(output)} exists already and was not written by this batch`,
    {
      code: 'exists',
      exit: 'exists',
      hint: 'Move the file away, or replace it with --overwrite. Nothing was sent.',
    },
  );
}

/** Returns the failure of an item that needs a flag to continue; the hint names the flag. */
export function endedFailure(why: StopReason, { about, facts, state }: ItemStatus): Failure {
  const { creditsUsed, jobId, problem } = facts;
  const cost = creditsUsed === undefined ? 'of unknown cost' : counted(creditsUsed, 'credit');
  const details = jobId === undefined ? undefined : { jobId };
  switch (why) {
    case 'failed':
      return new Failure(
        `the job of this item failed: ${problem ?? 'the service returned no reason'}`,
        {
          code: 'ERR_JOB_FAILED',
          exit: 'rejected',
          hint: 'The job was refunded; --retry-failed speaks the item again.',
          details,
        },
      );
    case 'partial':
      return new Failure('only part of the text was spoken or timed; the files contain that part', {
        code: 'partial_fail',
        exit: 'partial',
        billed: 'yes',
        hint: `--retry-failed speaks and bills the entire item again (the spoken part cost ${cost}).`,
        details,
      });
    case 'lost':
      return new Failure(
        state === 'published' || state === 'verified'
          ? `a file of this item is missing, and speaking the item again is billed again (${cost})`
          : `this item may have been billed (${cost}), and the audio is lost`,
        {
          code: 'lost',
          exit: 'lost',
          billed: creditsUsed === undefined ? 'unknown' : 'yes',
          hint: '--retry-failed speaks and bills the item again.',
          details,
        },
      );
    case 'elsewhere':
      return new Failure(
        `this item was billed at ${about?.origin ?? 'another service'}, which has the audio`,
        {
          code: 'lost',
          exit: 'lost',
          billed: 'yes',
          hint: 'Run the batch against that service again, or speak and bill the item again on this service with --redo.',
          details,
        },
      );
  }
}
