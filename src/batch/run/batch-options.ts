import type { ApiClient } from '../../api/client.ts';
import type { AssStyle } from '../../captions/ass-style.ts';
import type { CaptionFormat } from '../../captions/caption-files.ts';
import type { CueShape } from '../../captions/cue-shape.ts';
import type { ReuseStore } from '../../paid/reuse/reuse-store.ts';
import type { System } from '../../system/system.ts';
import type { BatchFolder } from '../journal/batch-folder.ts';
import type { BatchItem } from '../plan/plan.ts';
import type { CreditBudget } from './credit-budget.ts';

export interface CaptionOptions {
  readonly formats: readonly CaptionFormat[];
  readonly shape: CueShape;
  /** The styles of files of Advanced SubStation Alpha; default: styles of foley. */
  readonly assStyle?: AssStyle | undefined;
}

export interface RerunOptions {
  readonly outputDir: string;
  /** The flag that sets the output folder. Messages name it so that the user can choose another folder. */
  readonly outputFlag: string;
  /** Whether files that the batch did not make may be replaced. */
  readonly overwrite: boolean;
  readonly retriesFailed: boolean;
  readonly isRedone: (id: string) => boolean;
}

export interface BatchOptions {
  readonly system: System;
  readonly folder: BatchFolder;
  readonly client: ApiClient;
  readonly origin: string;
  readonly rerun: RerunOptions;
  readonly captions: CaptionOptions | undefined;
  /** Maximum time without data from a stream, in milliseconds; the default is one minute. */
  readonly idleTimeoutMs: number | undefined;
  /** Reads the items; each call starts with the first item. */
  readonly items: () => AsyncIterable<BatchItem>;
  readonly concurrency: number;
  readonly budget: CreditBudget;
  /** The bought audio to reuse (`--reuse`); undefined to buy all audio. */
  readonly reuse?: ReuseStore | undefined;
  readonly estimate: (item: BatchItem) => number;
  readonly notice: (line: string) => void;
  /** Aborted when the user stops the batch. */
  readonly signal: AbortSignal;
  /** How long running items may continue after the user stops the batch, in milliseconds. */
  readonly graceMs: number;
}
