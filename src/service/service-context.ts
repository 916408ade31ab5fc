import type { SpeechContext } from './speech/speak.ts';
import type { RateLimit } from './ledger/accounts.ts';
import type { CachedSpeech } from './speech/cached-speech.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { SignedLinks } from './jobs/signed-links.ts';
import type { Media } from './media/media.ts';
import type { AudioFolder } from './speech/audio-files.ts';
import type { PersonalVoices } from './voices/personal-voices.ts';
import type { VoiceMaker } from './voices/voice-maker.ts';
import type { Realtime } from './realtime/realtime.ts';
import type { Creates } from './operations/creates.ts';
import type { TemporaryFolder } from './http/multipart-form.ts';
import type { Designs, DesignDeps } from './voices/designs.ts';

/** What the handlers of the service work with. */
export interface ServiceContext extends SpeechContext {
  readonly personalVoices: PersonalVoices;
  readonly voiceMaker: VoiceMaker;
  readonly designs: Designs;
  /** What designs are made with. */
  readonly designing: DesignDeps;
  readonly uploads: TemporaryFolder;
  readonly creates: Creates;
  readonly jobs: Jobs;
  /** Audio files of jobs. */
  readonly audio: AudioFolder;
  readonly cachedSpeech: CachedSpeech;
  readonly links: SignedLinks;
  readonly media: Media;
  readonly rateLimit: RateLimit;
  readonly realtime: Realtime;
}
