import type { SpeechOrder } from '../../api/resources/speech.ts';
import type { ItemStatus } from '../journal/journal.ts';
import type { BatchItem } from '../plan/plan.ts';

/** An item, from when it is written down until its audio has its name. */
export interface ItemWork {
  readonly item: BatchItem;
  /** As it is written down: planned under its key, or accepted as a job. */
  readonly status: ItemStatus;
  /** Where its audio goes. */
  readonly file: string;
  /** Nothing was there when the batch looked; whoever takes the name meanwhile keeps it. */
  readonly isNew: boolean;
  /** Told, with what it cost, when the service has made its audio, so that only fetching it is left. */
  readonly onMade?: (creditsUsed: number | undefined) => void;
}

export interface DeliveredItem {
  readonly status: ItemStatus;
  readonly bytes: number;
  /** What it cost, as far as the service tells. */
  readonly creditsUsed: number | undefined;
  /** Only a part of the text is in the audio. */
  readonly isPartial: boolean;
}

/** One way to have items spoken: as jobs, or over a stream that cannot be asked for again. */
export interface ItemSpeaker {
  /** Method and path, for which keys are derived. */
  readonly endpoint: string;
  /** What is asked for with an order, byte for byte: another body is another purchase. */
  bodyOf(order: SpeechOrder): Uint8Array;
  /** The further files of an item, by its output. */
  besides(output: string): readonly string[];
  /**
   * Has an item spoken, or goes on where an earlier run was interrupted, and gives its audio its name.
   * @throws Failure; what is written down of the item by then says how to go on
   */
  speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem>;
}
