import type { SpeechOrder } from '../../api/speech-order.ts';
import type { JournalIndex } from '../journal/journal-index.ts';
import { bodyDigest } from '../journal/keys.ts';
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
  /** Nothing lies at its output. */
  readonly isNew: boolean;
}

export interface SurveyWishes {
  readonly index: JournalIndex;
  readonly look: OutputLook;
  readonly bodyOf: (order: SpeechOrder) => Uint8Array;
  /** The further files of an item, by its output. */
  readonly besides: (output: string) => readonly string[];
  readonly origin: string;
  readonly overwrite: boolean;
  readonly retriesFailed: boolean;
  /** Whether `--redo` names an item. */
  readonly isRedone: (id: string) => boolean;
  /** Of an earlier run with the same `--redo` that was interrupted, or of this one. */
  readonly redoToken: string | undefined;
}

/**
 * Decides for one item from what is written down and what lies at its output.
 * @throws Failure: exists (31) for a file that is not the batch's own, output, usage
 */
export async function surveyItem(item: BatchItem, wishes: SurveyWishes): Promise<Surveyed> {
  const { index, isRedone, look, origin, overwrite, redoToken, retriesFailed } = wishes;
  const body = bodyDigest(wishes.bodyOf(item.order));
  const status = index.statusOf(item.id, body);
  const state = await look.at(item);
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
  const decision = decide({
    status,
    isThere: hasAll && isIts(state, status?.facts.sha256),
    retriesFailed,
    isRedone: isRedone(item.id) && !wasRedone,
    origin,
  });
  return { item, body, decision, isNew: state.kind === 'missing' };
}

function isIts(state: OutputState, sha256: string | undefined): boolean {
  return state.kind === 'known' && state.file.sha256 === sha256;
}
