import type { Stats } from 'node:fs';
import path from 'node:path';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { checksumOf } from '../../durable/checksum.ts';
import { hasErrno, outputFailure } from '../../durable/file-failures.ts';
import { containedPath } from '../../durable/names.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import type { JournalIndex, KnownFile, ItemStatus, ItemFacts } from '../journal/journal.ts';
import { bodyDigest } from '../journal/keys.ts';
import { foldedName } from '../plan/name-template.ts';
import { Fingerprints } from '../plan/plan.ts';
import type { BatchItem } from '../plan/plan.ts';

/** An item, and what is to be done for it. */
export interface Surveyed {
  readonly item: BatchItem;
  readonly body: string;
  readonly decision: Decision;
  /** Its output does not exist. */
  readonly isNew: boolean;
  /** The audio of other content that its output holds. */
  readonly displaced: KnownFile | undefined;
}

export interface SurveyWishes {
  readonly index: JournalIndex;
  readonly look: OutputLook;
  readonly bodyOf: (order: SpeechOrder) => Uint8Array;
  /** The further files of an item, by its output. */
  readonly besides: (output: string) => readonly string[];
  /** Whether the audio of a purchase is in the folder, apart from this output. */
  readonly isElsewhere: (status: ItemStatus, output: string) => Promise<boolean>;
  readonly origin: string;
  readonly overwrite: boolean;
  readonly retriesFailed: boolean;
  /** Whether `--redo` names an item. */
  readonly isRedone: (id: string) => boolean;
  /** Of an earlier run with the same `--redo` that was interrupted, or of this one. */
  readonly redoToken: string | undefined;
}

/**
 * Decides for every item from the journal and from the files at the outputs; sends nothing. Of equal items
 * only the first is spoken or fetched.
 * @throws Failure: exists (31) for a file that is not the batch's own, output, usage
 */
export async function* surveyItems(
  items: AsyncIterable<BatchItem>,
  wishes: SurveyWishes,
): AsyncGenerator<Surveyed, void, undefined> {
  const purchases = new Fingerprints();
  for await (const item of items) {
    const surveyed = await surveyItem(item, wishes);
    const { body, decision } = surveyed;
    const isRequest = decision.kind === 'speak' || decision.kind === 'fetch';
    const of = isRequest ? purchases.add(purchaseOf(body, decision), item.index) : undefined;
    const shared = { kind: 'share', of: of ?? 0, status: decision.status } as const;
    yield of === undefined ? surveyed : { ...surveyed, decision: shared };
  }
}

function purchaseOf(
  body: string,
  decision: Extract<Decision, { kind: 'fetch' | 'speak' }>,
): string {
  if (decision.kind === 'speak') return `${body} ${decision.generation}`;
  return decision.status.facts.jobId ?? '';
}

async function surveyItem(item: BatchItem, wishes: SurveyWishes): Promise<Surveyed> {
  const { index, look, overwrite, redoToken } = wishes;
  const body = bodyDigest(wishes.bodyOf(item.order));
  const status = index.statusOf(item.id, body);
  const state = await look.at(item, status?.facts);
  if (state.kind === 'foreign' && !overwrite) throw foreignOutput(item);
  const { source } = item;
  const names = wishes.besides(item.output).map((output) => ({ output, source }));
  let hasAll = true;
  for (const beside of names) {
    const { kind } = await look.at(beside);
    if (kind === 'foreign' && !overwrite) throw foreignOutput(beside);
    hasAll &&= kind !== 'missing';
  }
  const wasRedone = redoToken !== undefined && status?.about?.redo === redoToken;
  const isNamed = wishes.isRedone(item.id);
  const sha256 = state.kind === 'known' && hasAll ? state.file.sha256 : undefined;
  const isThere = sha256 !== undefined && sha256 === status?.facts.sha256;
  const hasOther = !isThere && !isNamed && sha256 !== undefined && index.isTake(body, sha256);
  const decision: Decision =
    hasOther && status !== undefined && !isFor(status, item)
      ? // Equal items may have been bought by themselves: what is there is no worse than the other.
        { kind: 'skip', status }
      : decide({
          ...wishes,
          status,
          lastGeneration: index.lastGeneration(body),
          isThere,
          isElsewhere: !isThere && (await isAtAnotherName(status, item, wishes)),
          isRedone: isNamed && !wasRedone,
        });
  const isNew = state.kind === 'missing';
  return { item, body, decision, isNew, displaced: displacedBy(body, state, index) };
}

/** Whether a purchase was made for this very item. */
function isFor({ about, item }: ItemStatus, { id, output }: BatchItem): boolean {
  return item === id || about?.output === output;
}

async function isAtAnotherName(
  status: ItemStatus | undefined,
  { output }: BatchItem,
  wishes: SurveyWishes,
): Promise<boolean> {
  const mayBe = status?.state === 'verified' || status?.state === 'published';
  return mayBe && wishes.isElsewhere(status, output);
}

function displacedBy(body: string, state: OutputState, index: JournalIndex): KnownFile | undefined {
  if (state.kind !== 'known') return undefined;
  return index.isTake(body, state.file.sha256) ? undefined : state.file;
}

type Survey = AsyncGenerator<Surveyed, void, undefined>;

/** A survey that is gone over twice, and read twice only when it is long. */
interface KeptSurvey {
  first(): Survey;
  /** The same again; what was not read to its end the first time is read anew. */
  again(): Survey;
}

/** What is longer than this is not kept. */
const KEPT_CHARACTERS = 4_000_000;
/** What an item takes besides its text, roughly. */
const ITEM_CHARACTERS = 400;

export function keepSurvey(read: () => Survey): KeptSurvey {
  let seen: readonly Surveyed[] | undefined;
  return {
    async *first() {
      seen = undefined;
      let all: Surveyed[] | undefined = [];
      let size = 0;
      for await (const one of read()) {
        size += one.item.characters + ITEM_CHARACTERS;
        if (size > KEPT_CHARACTERS) all = undefined;
        all?.push(one);
        yield one;
      }
      seen = all;
    },
    async *again() {
      if (seen === undefined) yield* read();
      else yield* seen;
    },
  };
}

/** What is to be done for one item. */
type Decision =
  /** Its audio lies where it belongs, and nothing of it has changed. */
  | { readonly kind: 'skip'; readonly status: ItemStatus }
  /** It is to be asked for under this generation; a known status was written down before. */
  | {
      readonly kind: 'speak';
      readonly generation: number;
      readonly status: ItemStatus | undefined;
      /** Bought again on purpose. */
      readonly isAgain: boolean;
    }
  /** Its audio is in the folder under another name: it is moved or copied. */
  | { readonly kind: 'reuse'; readonly status: ItemStatus }
  /** An equal item of this plan, with this number, is spoken or fetched; its audio serves both. */
  | { readonly kind: 'share'; readonly of: number; readonly status: ItemStatus | undefined }
  /** It is paid for, and its job has the audio, or will. */
  | { readonly kind: 'fetch'; readonly status: ItemStatus }
  /** It came to an end that only the person can change. */
  | { readonly kind: 'ended'; readonly status: ItemStatus; readonly why: Ended };

export type Ended =
  /** The job failed and was refunded. */
  | 'failed'
  /** Only part of the audio is there. */
  | 'partial'
  /** Paid for, and its audio cannot be had again. */
  | 'lost'
  /** Paid for at another service, which has its audio. */
  | 'elsewhere';

export interface DecisionFacts {
  /** The purchase that serves the item. */
  readonly status: ItemStatus | undefined;
  /** The highest generation in which its body was asked for; -1 when it never was. */
  readonly lastGeneration: number;
  /** Whether the audio that is known of it lies at its output. */
  readonly isThere: boolean;
  /** Whether that audio is in the folder under another name. */
  readonly isElsewhere: boolean;
  /** `--retry-failed`. */
  readonly retriesFailed: boolean;
  /** `--redo` names it, and it was not bought again for that yet. */
  readonly isRedone: boolean;
  /** Of the service that is asked. */
  readonly origin: string;
}

/**
 * What is to be done for an item (docs/batch.md): what is open is gone on with under its own key, what was
 * paid for is fetched, and only a refusal of the person's to leave it at that buys anything twice.
 */
export function decide(facts: DecisionFacts): Decision {
  const { isRedone, lastGeneration, retriesFailed, status } = facts;
  if (status === undefined) {
    return { kind: 'speak', generation: 0, status, isAgain: false };
  }
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
  { isElsewhere, isThere, origin }: DecisionFacts,
): Decision {
  switch (status.state) {
    case 'planned':
      return { kind: 'speak', generation: status.generation, status, isAgain: false };
    // What cannot be asked again was interrupted after it may have been paid for, unless it was refused.
    case 'sent':
      return status.facts.isRefused === true
        ? { kind: 'speak', generation: status.generation, status, isAgain: false }
        : { kind: 'ended', status, why: 'lost' };
    case 'failed':
      return { kind: 'ended', status, why: 'failed' };
    case 'lost':
      return { kind: 'ended', status, why: 'lost' };
    case 'accepted':
      return fetchFrom(origin, status);
    case 'verified':
    case 'published':
      if (!isThere) return isElsewhere ? { kind: 'reuse', status } : fetchFrom(origin, status);
      if (status.facts.isPartial === true) return { kind: 'ended', status, why: 'partial' };
      return { kind: 'skip', status };
  }
}

/** What is to be done for a purchase whose audio is not in the folder. */
export function fetchFrom(origin: string, status: ItemStatus): Decision {
  if (status.facts.jobId === undefined) return { kind: 'ended', status, why: 'lost' };
  const isHere = status.about === undefined || status.about.origin === origin;
  return isHere ? { kind: 'fetch', status } : { kind: 'ended', status, why: 'elsewhere' };
}

/** What lies at the output of an item. */
type OutputState =
  | { readonly kind: 'missing' }
  /** A file that this batch made, as it made it. */
  | { readonly kind: 'known'; readonly file: KnownFile }
  /** The batch was about to put a file here; what became of it is not written down. */
  | { readonly kind: 'ours' }
  /** Nothing that the batch made. */
  | { readonly kind: 'foreign' };

/** Looks at outputs; a folder with many of them is read once. */
interface OutputLook {
  /**
   * @param audio what the item's audio is, which is its own also where somebody else put it
   * @throws Failure (usage, output) for a folder in its place, or a link that leads out
   */
  at(
    item: Pick<BatchItem, 'output' | 'source'>,
    audio?: Pick<ItemFacts, 'bytes' | 'sha256'>,
  ): Promise<OutputState>;
}

interface LookOptions {
  readonly outputDir: string;
  readonly index: JournalIndex;
  readonly files: FileSystem;
}

export function createOutputLook(options: LookOptions): OutputLook {
  const { files, outputDir } = options;
  const folders = new Map<string, Promise<ReadonlySet<string>>>();
  const inside = new Map<string, Promise<string>>();
  /** Whether no link leads out of the output folder on the way; looked at once. */
  const isInside = (folder: string): Promise<string> => {
    if (folder === '.') return Promise.resolve(outputDir);
    const known = inside.get(folder) ?? containedPath(outputDir, folder, files);
    inside.set(folder, known);
    return known;
  };
  const namesIn = (folder: string): Promise<ReadonlySet<string>> => {
    const known = folders.get(folder) ?? readNames(path.join(outputDir, folder), files);
    folders.set(folder, known);
    return known;
  };
  return {
    async at({ output, source }, audio) {
      await isInside(path.posix.dirname(output));
      const names = await namesIn(path.posix.dirname(output));
      if (!names.has(foldedName(path.posix.basename(output)))) return { kind: 'missing' };
      const file = path.join(outputDir, output);
      const stats = await statsOf(outputDir, output, files);
      if (stats === undefined) return { kind: 'missing' };
      if (stats.isDirectory()) {
        throw usageFailure(`${source}: its output ${display(file)} is a folder`);
      }
      const state = await compare(file, stats, output, options);
      if (state.kind === 'known' || !stats.isFile()) return state;
      const { bytes, sha256 } = audio ?? {};
      if (sha256 === undefined || bytes !== stats.size) return state;
      const isIts = (await digestOf(file, files)) === sha256;
      return isIts ? { kind: 'known', file: { sha256, bytes, mtimeMs: undefined } } : state;
    },
  };
}

/** Folded, since the system may write a name in another way than ours. */
async function readNames(folder: string, files: FileSystem): Promise<ReadonlySet<string>> {
  try {
    return new Set((await files.readdir(folder)).map((name) => foldedName(name)));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return new Set();
    throw outputFailure(folder, error, 'opening', '--output-dir');
  }
}

/** Of what a link leads to, when that is not outside. */
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
  output: string,
  { files, index }: LookOptions,
): Promise<OutputState> {
  const known = index.filesAt(output);
  if (known === undefined || !stats.isFile()) return { kind: 'foreign' };
  if (known.length === 0) return { kind: 'ours' };
  const sized = known.filter(({ bytes }) => bytes === stats.size);
  const untouched = sized.filter(({ mtimeMs }) => mtimeMs === stats.mtimeMs);
  // Audio of one length may have got its names in one tick of the clock.
  const [only] = untouched.length === 1 ? untouched : [];
  if (only !== undefined) return { kind: 'known', file: only };
  const digest = await digestOf(file, files);
  // Also audio of another item, which a run that was killed did not get to replace.
  if (index.outputsOf(digest).length === 0) return { kind: 'foreign' };
  return { kind: 'known', file: { sha256: digest, bytes: stats.size, mtimeMs: undefined } };
}

function digestOf(file: string, files: FileSystem): Promise<string> {
  return checksumOf(file, 'sha256', files).catch((error: unknown) => {
    throw outputFailure(file, error, 'opening', '--output-dir');
  });
}

/** An output that is not the batch's own and may not be replaced: exit 31. */
function foreignOutput({ output, source }: Pick<BatchItem, 'output' | 'source'>): Failure {
  return new Failure(
    `${source}: its output ${display(output)} exists already, and not as this batch made it`,
    {
      code: 'exists',
      exit: 'exists',
      hint: 'Move it away, or allow it to be replaced with --overwrite. Nothing was sent.',
    },
  );
}
