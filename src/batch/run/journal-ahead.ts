import type { BatchFolder } from '../journal/batch-folder.ts';
import { itemKey } from '../journal/keys.ts';
import type { ItemAbout, ItemStatus } from '../journal/journal.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { ItemSpeaker } from './item-speaker.ts';
import type { Surveyed } from './classify.ts';

/** An item that is written down. */
export interface Written {
  readonly surveyed: Surveyed;
  readonly status: ItemStatus;
}

export interface WriteDownOptions {
  readonly items: AsyncIterable<Surveyed>;
  readonly folder: Pick<BatchFolder, 'plan' | 'redoToken' | 'secret'>;
  readonly speaker: Pick<ItemSpeaker, 'besides' | 'endpoint'>;
  readonly origin: string;
  readonly concurrency: number;
  /** Then no more are wanted. */
  readonly isStopped: () => boolean;
  /** Told of what need not be sent. */
  readonly onSettled: (surveyed: Surveyed) => Promise<void>;
}

/** Items that are written down together. */
const WINDOW = 64;

/**
 * Items that may be sent, since their keys are on the disk; so many at a time. As many as there are workers
 * come first, so that nobody waits for the others.
 */
export async function* journalAhead(
  options: WriteDownOptions,
): AsyncGenerator<readonly Written[], void, undefined> {
  let size = options.concurrency;
  let waiting: Surveyed[] = [];
  for await (const surveyed of options.items) {
    if (options.isStopped()) return;
    const { kind } = surveyed.decision;
    if (kind === 'skip' || kind === 'ended') {
      await options.onSettled(surveyed);
      continue;
    }
    waiting.push(surveyed);
    if (waiting.length < size) continue;
    yield await written(waiting, options);
    waiting = [];
    size = WINDOW;
  }
  yield await written(waiting, options);
}

async function written(
  surveyed: readonly Surveyed[],
  options: WriteDownOptions,
): Promise<readonly Written[]> {
  if (options.isStopped()) return [];
  const all = surveyed.map((one) => ({ surveyed: one, ...statusOf(one, options) }));
  await options.folder.plan(all.filter(({ isKnown }) => !isKnown).map(({ status }) => status));
  return all;
}

/** An item as it has to be written down before it is sent; known when it is already. */
function statusOf(
  { body, decision, item }: Surveyed,
  { folder, origin, speaker }: WriteDownOptions,
): { status: ItemStatus; isKnown: boolean } {
  const { status: known } = decision;
  const before = known?.about?.origin === origin ? known.about : undefined;
  if (known !== undefined && before?.output === item.output) {
    return { status: known, isKnown: true };
  }
  const isNew = decision.kind === 'speak';
  const generation = isNew ? decision.generation : (known?.generation ?? 0);
  const about = { origin, endpoint: speaker.endpoint, body, generation };
  const key = before?.key ?? itemKey(folder.secret, about);
  const again = isNew && decision.isAgain ? { redo: folder.redoToken } : {};
  return {
    isKnown: false,
    status: {
      item: known?.item ?? item.id,
      body,
      generation,
      state: isNew ? 'planned' : (known?.state ?? 'planned'),
      about: { ...before, ...filesOf(item, speaker), key, origin, ...again },
      facts: known?.facts ?? {},
    },
  };
}

function filesOf(
  { output }: BatchItem,
  speaker: WriteDownOptions['speaker'],
): Pick<ItemAbout, 'besides' | 'output'> {
  const besides = speaker.besides(output);
  return besides.length === 0 ? { output } : { output, besides };
}
