import type { Stats } from 'node:fs';
import path from 'node:path';
import { checksumOf } from '../../durable/checksum.ts';
import { hasErrno, outputFailure } from '../../durable/file-failures.ts';
import { containedPath } from '../../durable/names.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import type { FileSystem } from '../../system/file-system.ts';
import type { System } from '../../system/system.ts';
import type { JournalIndex, KnownFile, ItemStatus } from '../journal/journal.ts';
import type { PurchaseMetadata } from '../../paid/purchase.ts';
import type { ReuseStore } from '../../paid/reuse/reuse-store.ts';
import { FirstOwners, foldedName } from '../plan/plan.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { CaptionOptions, RerunOptions } from './batch-options.ts';
import type { Decision } from './decide.ts';
import { decide } from './decide.ts';
import type { BodyOf, ItemPart, UnpaidText } from './paused-items.ts';
import { classifyParts, isStored, itemDigest, unpaidParts } from './paused-items.ts';
import { boughtItem } from './publish-audio.ts';
import type { AudioLookup, ReuseTarget } from './reuse-audio.ts';
import { isStoredElsewhere, unchangedFile } from './reuse-audio.ts';

export interface ClassifiedItem {
  readonly item: BatchItem;
  readonly isNew: ReuseTarget['isNew'];
  readonly displaced: ReuseTarget['displaced'];
  readonly body: string;
  readonly decision: ItemDecision;
  /** The texts that the service bills if the item is spoken, by the digest of the request. */
  readonly unpaid: ReadonlyMap<string, UnpaidText>;
  /** Whether bought audio may be reused (`--reuse`): not for an item that `--redo` names. */
  readonly mayReuse: boolean;
  /** Whether the item has audio from a command without captions, and is spoken again because it needs word times. */
  readonly isUncaptioned: boolean;
}

export type ItemDecision =
  | Decision
  /** The item gets its audio from an earlier item with the same request. `of` is the number of the earlier item. */
  | { readonly kind: 'share'; readonly of: number; readonly status: ItemStatus | undefined };

export interface ClassifyOptions extends AudioLookup {
  readonly bodyOf: BodyOf;
  /** Like `bodyOf`, for the same command with captions if this one has none, or without captions if it has some. */
  readonly otherBodyOf: BodyOf;
  readonly origin: string;
  /**
   * Token that identifies this command. A `--redo` command that continues an interrupted one has the same token as that
   * command.
   */
  readonly redoToken: string | undefined;
}

/**
 * Decides what to do with each item, from the journal and the output files. Sends nothing. Of several items with the
 * same request, only the first is spoken or fetched.
 * @throws Failure of kind `output` or `usage`, or of kind `exists` for an output file that the batch did not make
 */
export async function* classifyItems(
  items: AsyncIterable<BatchItem>,
  options: ClassifyOptions,
): AsyncGenerator<ClassifiedItem, void, undefined> {
  const purchases = new FirstOwners();
  const inspector = new OutputInspector(options.system, options.index, options.rerun);
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
  const { kind, status } = decision;
  return kind === 'fetch' ? `${status.body} ${status.generation}` : undefined;
}

function asRequested(
  item: BatchItem,
  { index, rerun }: ClassifyOptions,
  { bodyOf }: ItemRequests,
): BatchItem {
  const { rawText: text, spoken: _, ...rest } = item;
  if (text === undefined || item.parts !== undefined || rerun.isRedone(item.id)) return item;
  const order = { ...item.order, text };
  const isKnown = (one: string): boolean =>
    index.statusOf(
      item.id,
      itemDigest({ ...rest, parts: undefined, order: { ...item.order, text: one } }, bodyOf),
    ) !== undefined;
  if (isKnown(item.order.text) || !isKnown(text)) return item;
  return { ...rest, order, characters: countCodePoints(text) };
}

async function classify(
  planned: BatchItem,
  inspector: OutputInspector,
  options: ClassifyOptions,
): Promise<ClassifiedItem> {
  const hasCaptions = options.sidecars(planned.output).length > 0;
  const { bodyOf, otherBodyOf } = options;
  const sent = { bodyOf, isSentOnce: hasCaptions };
  const own = await classifyBody(planned, sent, inspector, options);
  const { decision } = own;
  const isNew = decision.kind === 'speak' && decision.status === undefined && !decision.isAgain;
  if (!isNew || options.index.isEmpty) return own;
  const others = { bodyOf: otherBodyOf, isSentOnce: !hasCaptions };
  const other = await classifyBody(planned, others, inspector, options);
  const { kind, status } = other.decision;
  if (hasCaptions)
    return { ...own, isUncaptioned: kind === 'skip' || kind === 'reuse' || kind === 'fetch' };
  // Audio with captions is also the audio of a command without captions.
  const isBought = kind === 'ended' && status.state !== 'failed';
  return kind === 'skip' || kind === 'reuse' || isBought ? other : own;
}

interface ItemRequests {
  readonly bodyOf: BodyOf;
  /** Whether the service sends the audio of these requests only once. */
  readonly isSentOnce: boolean;
}

// Decides what to do with an item if its requests are these.
async function classifyBody(
  planned: BatchItem,
  requests: ItemRequests,
  inspector: OutputInspector,
  options: ClassifyOptions,
): Promise<ClassifiedItem> {
  const { index, origin, redoToken, rerun } = options;
  const { overwrite, retriesFailed } = rerun;
  const item = asRequested(planned, options, requests);
  const body = itemDigest(item, requests.bodyOf);
  const { isSentOnce } = requests;
  const status =
    index.statusOf(item.id, body) ?? (await copiedStatus(item, body, isSentOnce, options));
  const state = await inspector.inspect(item, status?.facts);
  if (isOthers(state) && !overwrite) throw unusableOutput(item, state);
  let hasAll = true;
  for (const output of options.sidecars(item.output)) {
    const sidecar = { output, source: item.source };
    const found = await inspector.inspect(sidecar);
    if (isOthers(found) && !overwrite) throw unusableOutput(sidecar, found);
    hasAll &&= found.kind !== 'missing';
  }
  const wasRedone = redoToken !== undefined && status?.about?.redo === redoToken;
  const isNamed = rerun.isRedone(item.id);
  const sha256 = state.kind === 'known' && hasAll ? state.file.sha256 : undefined;
  const isPresent = sha256 !== undefined && sha256 === status?.facts.sha256;
  const hasOther = !isPresent && !isNamed && sha256 !== undefined && index.isAudioOf(body, sha256);
  const mayMove = !isPresent && (status?.state === 'verified' || status?.state === 'published');
  const decided: Decision =
    hasOther &&
    status !== undefined &&
    status.item !== item.id &&
    status.about?.output !== item.output
      ? // Equal items may have been requested separately: the audio at the output is as good as the other.
        { kind: 'skip', status }
      : decide({
          origin,
          retriesFailed,
          status,
          lastGeneration: Math.max(index.lastGeneration(body), status?.generation ?? -1),
          isPresent,
          isElsewhere: mayMove && (await isStoredElsewhere(status, item.output, options)),
          isRedone: isNamed && !wasRedone,
        });
  const isDisplaced = state.kind === 'known' && !index.isAudioOf(body, state.file.sha256);
  const displaced = isDisplaced ? state.file : undefined;
  const parts = await partsOf(item, decided, isNamed, requests.bodyOf, options);
  const isLost = decided.kind === 'ended' && decided.why === 'lost';
  // A killed run may have joined the parts without publishing the item.
  const decision: Decision =
    isLost && isStored(parts) ? { kind: 'fetch', status: decided.status } : decided;
  const unpaid = item.parts === undefined ? new Map([[body, item]]) : unpaidParts(parts);
  const isNew = state.kind === 'missing';
  const isAgain = decision.kind === 'speak' && decision.isAgain;
  const mayReuse = !(isAgain && isNamed) && decision.status?.about?.redo === undefined;
  return { item, body, decision, isNew, displaced, unpaid, mayReuse, isUncaptioned: false };
}

export interface BuyOptions {
  readonly captions: CaptionOptions | undefined;
  readonly reuse?: ReuseStore | undefined;
}

/** Returns the unpaid texts of an item, without those whose audio `--reuse` finds. */
export async function textsToBuy(
  { mayReuse, unpaid }: ClassifiedItem,
  { captions, reuse }: BuyOptions,
): Promise<ReadonlyMap<string, UnpaidText>> {
  if (reuse === undefined || !mayReuse) return unpaid;
  const missing: [string, UnpaidText][] = [];
  for (const [body, text] of unpaid) {
    if (!(await reuse.has(boughtItem(text.order, captions !== undefined))))
      missing.push([body, text]);
  }
  return new Map(missing);
}

// Returns the delivered request of an item that the journal does not contain, because the output folder was deleted: if
// a copy has its audio, or if the audio cannot be requested again. The request is then not recorded as lost, so that a
// later command with the captions of the copy finds it.
async function copiedStatus(
  { output }: BatchItem,
  body: string,
  isSentOnce: boolean,
  options: ClassifyOptions,
): Promise<ItemStatus | undefined> {
  const status = options.index.deliveredOf(body);
  if (status?.about?.origin !== options.origin) return undefined;
  return isSentOnce || (await isStoredElsewhere(status, output, options)) ? status : undefined;
}

async function partsOf(
  item: BatchItem,
  { kind, status, ...decision }: Decision,
  isNamed: boolean,
  bodyOf: BodyOf,
  options: ClassifyOptions,
): Promise<readonly ItemPart[]> {
  if (item.parts === undefined || (kind !== 'speak' && kind !== 'ended')) return [];
  const isAgain = 'isAgain' in decision && decision.isAgain;
  const redo = isAgain && isNamed ? (options.redoToken ?? '') : status?.about?.redo;
  return classifyParts(item, redo, bodyOf, options);
}

type Classified = AsyncGenerator<ClassifiedItem, void, undefined>;

const RETAINED_CHARACTERS = 4_000_000;
const ITEM_CHARACTERS = 400;

/**
 * Returns two functions that yield the classified items. Call `first` for the first pass and `again` for every later
 * pass. `again` yields a few items from memory; if there are many, it classifies them again.
 * @param read classifies all items on each call
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

type OutputState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'known'; readonly file: KnownFile }
  // The journal of a killed process contains the name of this file, but not its hash.
  | { readonly kind: 'ours' }
  // The batch made the file, and another program changed it.
  | { readonly kind: 'changed' }
  | { readonly kind: 'foreign' };

interface ItemFile {
  readonly output: string;
  readonly source: string;
}

/** Compares output files with the journal. Lists each folder once. */
export class OutputInspector {
  readonly #files: FileSystem;
  readonly #index: JournalIndex;
  readonly #rerun: RerunOptions;
  readonly #namesIn = new Map<string, Promise<ReadonlySet<string>>>();

  constructor({ files }: System, index: JournalIndex, rerun: RerunOptions) {
    this.#files = files;
    this.#index = index;
    this.#rerun = rerun;
  }

  /**
   * Returns whether an output file exists and, if so, whether the batch made it.
   * @param audio size and hash of the item's audio; a file with this content counts as made by the batch
   * @throws Failure of kind `usage` if the output is a folder, or a link that leads out of the output folder
   * @throws Failure of kind `output` if the file or its folder cannot be read
   */
  async inspect({ output, source }: ItemFile, audio: PurchaseMetadata = {}): Promise<OutputState> {
    const folder = path.posix.dirname(output);
    const known = this.#namesIn.get(folder) ?? this.#readNames(folder);
    this.#namesIn.set(folder, known);
    if (!(await known).has(foldedName(path.posix.basename(output)))) return { kind: 'missing' };
    const file = path.join(this.#rerun.outputDir, output);
    const stats = await this.#statsOf(output);
    if (stats === undefined) return { kind: 'missing' };
    if (stats.isDirectory()) {
      throw usageFailure(`${source}: its output ${display(file)} is a folder`);
    }
    // Writing to a pipe would wait for its reader.
    if (!stats.isFile()) {
      throw usageFailure(`${source}: its output ${display(file)} is a pipe or a device`);
    }
    const state = await this.#compare(file, stats, this.#index.filesAt(output));
    const { bytes, sha256 } = audio;
    if (state.kind === 'known' || sha256 === undefined || bytes !== stats.size) return state;
    const isIts = (await this.#digestOf(file)) === sha256;
    return isIts ? { kind: 'known', file: { sha256, bytes, mtimeMs: undefined } } : state;
  }

  // Folded, because the file system may have changed case or accents.
  async #readNames(folder: string): Promise<ReadonlySet<string>> {
    const { outputDir, outputFlag } = this.#rerun;
    const files = this.#files;
    if (folder !== '.') await containedPath(outputDir, folder, files);
    const dir = path.join(outputDir, folder);
    try {
      return new Set((await files.readdir(dir)).map((name) => foldedName(name)));
    } catch (error) {
      if (hasErrno(error, 'ENOENT')) return new Set();
      throw outputFailure(dir, error, 'opening', outputFlag);
    }
  }

  async #statsOf(output: string): Promise<Stats | undefined> {
    const { outputDir, outputFlag } = this.#rerun;
    const files = this.#files;
    const file = path.join(outputDir, output);
    try {
      const stats = await files.lstat(file);
      if (!stats.isSymbolicLink()) return stats;
      return await files.stat(await containedPath(outputDir, output, files));
    } catch (error) {
      if (hasErrno(error, 'ENOENT')) return undefined;
      throw outputFailure(file, error, 'opening', outputFlag);
    }
  }

  async #compare(
    file: string,
    stats: Stats,
    known: readonly KnownFile[] | undefined,
  ): Promise<OutputState> {
    if (known === undefined) return { kind: 'foreign' };
    if (known.length === 0) return { kind: 'ours' };
    const only = unchangedFile(known, stats);
    if (only !== undefined) return { kind: 'known', file: only };
    const sha256 = await this.#digestOf(file);
    // A killed run may have left audio of another item that it was about to replace.
    if (this.#index.outputsOf(sha256).length === 0) return { kind: 'changed' };
    return { kind: 'known', file: { sha256, bytes: stats.size, mtimeMs: undefined } };
  }

  #digestOf(file: string): Promise<string> {
    return checksumOf(file, 'sha256', this.#files).catch((error: unknown) => {
      throw outputFailure(file, error, 'opening', this.#rerun.outputFlag);
    });
  }
}

function isOthers({ kind }: OutputState): boolean {
  return kind === 'foreign' || kind === 'changed';
}

function unusableOutput({ output, source }: ItemFile, { kind }: OutputState): Failure {
  const [problem, hint] =
    kind === 'changed'
      ? [
          'was changed by another program after this batch wrote it',
          'Move the file away to keep the changes, or discard them with --overwrite. Audio without captions is then downloaded again, and is not billed. Nothing was sent.',
        ]
      : [
          'exists already and was not written by this batch',
          'Move the file away, or replace it with --overwrite. Nothing was sent.',
        ];
  return new Failure(`${source}: its output ${display(output)} ${problem}`, {
    code: 'exists',
    exit: 'exists',
    hint,
  });
}
