import type { ItemRecord } from '../../../src/batch/report/report.ts';
import type { Io } from '../../../src/cli/io.ts';
import type { ReuseFields } from '../../../src/paid/reuse/reused.ts';
import type { RecordingFields } from '../../../src/script/report.ts';
import { toJson } from '../../../src/text/display.ts';
import type { ReadAlongDocument } from '../read-along.ts';
import type { Overview } from './connect-batch.ts';

/** An event of `foley batch` or `foley script`: with `--json`, each is a line on stdout. */
export type BatchEvent = PlanEvent | ItemEvent | PlannedItemEvent | SummaryEvent;

/** The first event of a run, and the last one with `--dry-run`: what the batch does with the items. */
export interface PlanEvent extends Overview {
  readonly event: 'plan';
  /** With `--shard`: number of items in other shards. */
  readonly otherShards?: number | undefined;
}

/** An item that was spoken, fetched, or done before. */
export interface ItemEvent extends ItemRecord {
  readonly event: 'item';
}

/** With `--dry-run`: what the batch would do with an item. */
export interface PlannedItemEvent {
  readonly event: 'item';
  readonly id: string;
  readonly status: 'speak' | 'fetch' | 'reuse' | 'skip' | 'ended';
  readonly output: string;
  readonly source: string;
  readonly voiceId: string;
}

/** The last event of a run. */
export interface SummaryEvent extends Partial<ReuseFields> {
  readonly event: 'summary';
  readonly done: number;
  readonly failed: number;
  /** Number of items that were done before. */
  readonly skipped: number;
  readonly creditsUsed: number;
  /** Number of items that were not tried, because the batch was stopped. */
  readonly notTried: number;
  /** With `--shard`: number of items in other shards. */
  readonly otherShards?: number | undefined;
}

/** The recording of `foley script`. */
export interface RecordingEvent extends RecordingFields {
  readonly event: 'recording';
}

/** The read-along book of `foley script`. */
export interface ReadAlongEvent extends ReadAlongDocument {
  readonly event: 'recording';
}

/** Prints an event as a line on stdout. */
export function writeEvent(io: Io, event: BatchEvent): Promise<void> {
  return io.writeOut(`${toJson(event)}\n`);
}
