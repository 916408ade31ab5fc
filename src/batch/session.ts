import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import type { FileDeps } from '../durable/files.ts';
import type { BatchFolder } from './journal/batch-folder.ts';
import type { BatchItem } from './plan/plan.ts';
import type { CaptionWishes } from './run/aligned-speaker.ts';
import { createAlignedSpeaker } from './run/aligned-speaker.ts';
import type { ItemSpeaker } from './run/item-speaker.ts';
import { createJobSpeaker } from './run/job-speaker.ts';
import { keepSurvey, createOutputLook, surveyItems } from './run/classify.ts';
import type { Surveyed } from './run/classify.ts';
import { createOutputFolders } from './run/publish-audio.ts';
import type { BatchOptions, BatchRun } from './run/run-batch.ts';
import { runBatch } from './run/run-batch.ts';
import type { AudioLookup } from './run/reuse-audio.ts';
import { createAudioReuse, isInFolder } from './run/reuse-audio.ts';

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

  const { index, kept } = folder;
  const besides = speaker.besides.bind(speaker);
  const lookup = { ...options, index, kept, besides, outputDir: wishes.outputDir };
  const means = {
    folder,
    reuse: createAudioReuse({ ...lookup, folders }),
    speaker,
    origin,
    clock,
    maxRetries,
    fileOf: ({ output }: BatchItem): string => path.join(wishes.outputDir, output),
    sync: (): Promise<void> => folders.sync(),
  };
  const survey = keepSurvey(() => surveyAll(options, speaker, lookup));
  let hasUnsent = false;
  return {
    async *survey() {
      for await (const surveyed of survey.first()) {
        const { kind } = surveyed.decision;
        hasUnsent ||= kind === 'reuse' || kind === 'share';
        yield surveyed;
      }
    },
    speak(wanted) {
      const unsent = hasUnsent ? survey.again() : undefined;
      run = runBatch({ ...wanted, ...means, unsent, items: survey.again() });
      return run;
    },
  };
}

function surveyAll(
  options: SessionOptions,
  speaker: ItemSpeaker,
  lookup: AudioLookup,
): AsyncGenerator<Surveyed, void, undefined> {
  const { folder, origin, wishes } = options;
  const { redoToken } = folder;
  return surveyItems(options.items(), {
    ...wishes,
    ...lookup,
    origin,
    redoToken,
    look: createOutputLook(lookup),
    bodyOf: speaker.bodyOf.bind(speaker),
    isElsewhere: (status, output) => isInFolder(status, output, lookup),
  });
}
