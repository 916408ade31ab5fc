import type { Clock } from '../effects/clock.ts';
import type { RateLimit } from './accounts/rate-limit.ts';
import type { CachedSpeech } from './cached-speech/cached-speech.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { SignedLinks } from './jobs/signed-links.ts';
import type { Media } from './media/media.ts';
import type { EncodeSpeech } from './synthesis/encode.ts';
import type { PersonalVoices } from './personal-voices/personal-voices.ts';
import type { VoiceMaker } from './personal-voices/voice-maker.ts';
import type { Realtime } from './realtime/realtime.ts';
import type { Creates } from './operations/creates.ts';
import type { Operations } from './operations/operations.ts';
import type { ServiceEvent } from './running-service.ts';
import type { Generations } from './synthesis/generations.ts';
import type { SpeechQueue } from './synthesis/speech-queue.ts';
import type { Store } from './store/open-store.ts';
import type { TemporaryFolder } from './uploads/temporary-file.ts';
import type { Designs } from './voice-designs/designs.ts';
import type { DesignDeps } from './voice-designs/make-design.ts';

/** What the handlers of the service work with. */
export interface ServiceContext {
  readonly clock: Clock;
  readonly store: Store;
  readonly catalogue: Catalogue;
  readonly personalVoices: PersonalVoices;
  readonly voiceMaker: VoiceMaker;
  readonly designs: Designs;
  /** What designs are made with. */
  readonly designing: DesignDeps;
  readonly uploads: TemporaryFolder;
  readonly operations: Operations;
  readonly creates: Creates;
  readonly generations: Generations;
  readonly jobs: Jobs;
  readonly cachedSpeech: CachedSpeech;
  readonly links: SignedLinks;
  readonly media: Media;
  readonly rateLimit: RateLimit;
  readonly speechQueue: SpeechQueue;
  readonly realtime: Realtime;
  readonly encode: EncodeSpeech;
  readonly report: (event: ServiceEvent) => void;
}
