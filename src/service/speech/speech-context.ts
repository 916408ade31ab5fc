import type { Clock } from '../../effects/clock.ts';
import type { Operations } from '../operations/operations.ts';
import type { ServiceEvent } from '../running-service.ts';
import type { Store } from '../store/open-store.ts';
import type { Catalogue } from '../voices/catalogue.ts';
import type { EncodeSpeech } from './encode.ts';
import type { Generations } from './generations.ts';
import type { SpeechQueue } from './speech-queue.ts';

/** What speaking a text needs of the service: over HTTP, as a job, and in real time. */
export interface SpeechContext {
  readonly clock: Clock;
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly operations: Operations;
  readonly generations: Generations;
  readonly speechQueue: SpeechQueue;
  readonly encode: EncodeSpeech;
  readonly report: (event: ServiceEvent) => void;
}
