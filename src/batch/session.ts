import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import type { FileDeps } from '../files/file-deps.ts';
import type { BatchFolder } from './journal/batch-folder.ts';
import type { BatchItem } from './plan/plan.ts';
import type { CaptionWishes } from './run/aligned-speaker.ts';
import { createAlignedSpeaker } from './run/aligned-speaker.ts';
import type { ItemSpeaker } from './run/item-speaker.ts';
import { createJobSpeaker } from './run/job-speaker.ts';
import { keepSurvey } from './run/kept-survey.ts';
import { createOutputFolders } from './run/output-folders.ts';
import { createOutputLook } from './run/output-state.ts';
import type { BatchOptions, BatchRun } from './run/run-batch.ts';
import { runBatch } from './run/run-batch.ts';
import type { Surveyed } from './run/survey.ts';
import { surveyItem } from './run/survey.ts';

/** What a person wants of a batch besides its items. */
export interface BatchWishes {
  readonly outputDir: string;
  /** Files that the batch did not make may be replaced. */
  readonly overwrite: boolean;
  readonly retriesFailed: boolean;
  /** Whether an item is to be bought again. */
  readonly isRedone: (id: string) => boolean;
  /** Items are spoken over the aligned stream then, else as jobs. */
  readonly captions: CaptionWishes | undefined;
}

export interface SessionOptions extends FileDeps {
  readonly folder: BatchFolder;
  readonly client: ApiClient;
  /** `embedded`, or the address of the service. */
  readonly origin: string;
  readonly wishes: BatchWishes;
  readonly maxRetries: number;
  /** Longest silence of a stream, in milliseconds; by default a minute. */
  readonly idleTimeoutMs: number | undefined;
  /** The items, read anew each time. */
  readonly items: () => AsyncIterable<BatchItem>;
}

/** What belongs to one run of a batch. */
export type SpeakOptions = Pick<
  BatchOptions,
  'budget' | 'concurrency' | 'estimate' | 'graceMs' | 'onResult' | 'signal'
>;

/** A batch with its folder and its service. */
export interface BatchSession {
  /**
   * Every item with what is to be done for it; nothing is sent.
   * @throws Failure: exists (31) for a file that is not the batch's own, output, usage
   */
  survey(): AsyncGenerator<Surveyed, void, undefined>;
  /** Does it. */
  speak(options: SpeakOptions): BatchRun;
}

export function openSession(options: SessionOptions): BatchSession {
  const { clock, client, folder, maxRetries, origin, wishes } = options;
  let run: BatchRun | undefined;
  const onTrouble = (reason: unknown): void => run?.stop(reason);
  const folders = createOutputFolders(options.files);
  const { captions } = wishes;
  const speaker =
    captions === undefined
      ? createJobSpeaker({ ...options, client, folders, onTrouble })
      : createAlignedSpeaker({ ...options, client, folders, captions });

  const means = {
    folder,
    speaker,
    origin,
    clock,
    maxRetries,
    fileOf: ({ output }: BatchItem): string => path.join(wishes.outputDir, output),
    sync: (): Promise<void> => folders.sync(),
  };
  const kept = keepSurvey(() => surveyAll(options, speaker));
  return {
    survey: () => kept.first(),
    speak(wanted) {
      run = runBatch({ ...wanted, ...means, items: kept.again() });
      return run;
    },
  };
}

async function* surveyAll(
  options: SessionOptions,
  speaker: ItemSpeaker,
): AsyncGenerator<Surveyed, void, undefined> {
  const { folder, origin, wishes } = options;
  const { index, redoToken } = folder;
  const look = createOutputLook({ ...options, outputDir: wishes.outputDir, index });
  const bodyOf = speaker.bodyOf.bind(speaker);
  const besides = speaker.besides.bind(speaker);
  for await (const item of options.items()) {
    yield await surveyItem(item, { ...wishes, index, look, bodyOf, besides, origin, redoToken });
  }
}
