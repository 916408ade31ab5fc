import type { SpeechOrder } from '../../api/speech-order.ts';
import type { JournalIndex, KnownFile } from '../journal/journal-index.ts';
import { bodyDigest } from '../journal/keys.ts';
import type { ItemStatus } from '../journal/records.ts';
import { Fingerprints } from '../plan/fingerprints.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { Decision } from './decide.ts';
import { decide } from './decide.ts';
import type { OutputLook, OutputState } from './output-state.ts';
import { foreignOutput } from './output-state.ts';

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
          isElsewhere: !isThere && (await isElsewhere(status, item, wishes)),
          isRedone: isNamed && !wasRedone,
        });
  const isNew = state.kind === 'missing';
  return { item, body, decision, isNew, displaced: displacedBy(body, state, index) };
}

/** Whether a purchase was made for this very item. */
function isFor({ about, item }: ItemStatus, { id, output }: BatchItem): boolean {
  return item === id || about?.output === output;
}

async function isElsewhere(
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
