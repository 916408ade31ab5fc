import type { DryRunDocument, RequestDocument } from '../src/cli/render/result.ts';
import type { HelpDocument } from '../src/cli/described-command.ts';
import type { EndpointId } from '../src/contract/generated/endpoints.ts';
import type { AlignDocument } from './align/align.ts';
import type { AccountList } from './auth/list.ts';
import type { LoginDocument } from './auth/login.ts';
import type { LogoutDocument } from './auth/logout.ts';
import type { StatusDocument } from './auth/status.ts';
import type { CaptionsOutput } from './captions/captions.ts';
import type { InstalledDocument } from './completion/install.ts';
import type { CompletionDocument } from './completion/print.ts';
import type { SettingDocument } from './config/get.ts';
import type { SettingList } from './config/list.ts';
import type { PathsDocument } from './config/path.ts';
import type { SetDocument } from './config/set.ts';
import type { UnsetDocument } from './config/unset.ts';
import type { DesignDocument } from './design/create.ts';
import type { PreviewDocument } from './design/preview.ts';
import type { DoctorDocument } from './doctor/doctor.ts';
import type { DubDocument } from './dub/create.ts';
import type { EngineListDocument } from './engine/list.ts';
import type { RemovedDocument } from './engine/remove.ts';
import type { StoppedDocument } from './engine/stop.ts';
import type { EngineTestDocument } from './engine/test.ts';
import type { ExitCodeList } from './help/exit-codes.ts';
import type { GlobalFlagList } from './help/flags.ts';
import type { ManualDocument } from './help/man.ts';
import type { SkillDocument } from './help/skill.ts';
import type { InspectDocument } from './inspect/inspect.ts';
import type { LiveEvent } from './live/reporter.ts';
import type { SegmentDocument } from './live/segment.ts';
import type { ModelPrice } from './models/format.ts';
import type { ReusedJobDocument } from './jobs/create.ts';
import type { RecoverDocument } from './recover/recover.ts';
import type { StoredAudioList } from './reuse/list.ts';
import type { RemovedAudio } from './shared/journal.ts';
import type { LogLine } from './serve/log.ts';
import type { ServeDocument } from './serve/serve.ts';
import type { BatchEvent, ReadAlongEvent, RecordingEvent } from './shared/batch/events.ts';
import type { EngineDocument } from './shared/engine-list.ts';
import type { MadeVoiceDocument } from './shared/flags/voices.ts';
import type { JobDocument, WaitedJobs } from './shared/jobs/format.ts';
import type { SpeechDocument } from './shared/speech/speak.ts';
import type { TextDocument } from './text/text.ts';
import type { VoicePreviews } from './voices/preview.ts';

/**
 * What each command prints with `--json`: one document on stdout, or a line for each event. `npm run generate` writes
 * the JSON Schemas of `foley help COMMAND --schema` from this interface.
 */
export interface Outputs {
  tts: SpeechDocument | DryRunDocument;
  'jobs create': JobDocument | ReusedJobDocument | DryRunDocument;
  'jobs list': Listed<'listJobs' | 'listJobsV1'>;
  'jobs get': Response<'getJob' | 'getJobV1'>;
  'jobs wait': WaitedJobs;
  'jobs download': JobDocument;
  batch: Events<BatchEvent>;
  script: Events<BatchEvent | RecordingEvent | ReadAlongEvent>;
  live: Events<LiveEvent>;
  'live capabilities': Response<'getRealtimeCapabilities' | 'getRealtimeCapabilitiesV2'>;
  'live ticket': Response<'createBrowserTicket' | 'createBrowserTicketV2'> | string;
  'live status': Response<'getRealtimeRequest' | 'getRealtimeRequestV2'>;
  'live segment': SegmentDocument;
  text: TextDocument;
  'voices list': Listed<'listVoices' | 'listVoicesV1' | 'listCompatVoices'>;
  'voices get': Response<'getVoice'>;
  'voices create': MadeVoiceDocument | RequestDocument;
  'voices delete': Response<'deleteVoice'>;
  'voices preview': VoicePreviews;
  'design create': DesignDocument | DryRunDocument;
  'design preview': PreviewDocument;
  'design save': MadeVoiceDocument | DryRunDocument;
  'lipsync create': JobDocument | DryRunDocument;
  'lipsync list': Listed<'listLipSync'>;
  'lipsync get': Response<'getLipSync'>;
  'lipsync wait': WaitedJobs;
  'lipsync download': JobDocument;
  'dub create': DubDocument;
  'dub get': Response<'getDubbing'>;
  'dub wait': WaitedJobs;
  'dub download': JobDocument;
  'image create': JobDocument | DryRunDocument;
  'image models': Response<'getMediaModels'>;
  'image get': Response<'getImageJob'>;
  'image wait': WaitedJobs;
  'image download': JobDocument;
  'video create': JobDocument | DryRunDocument;
  'video models': Response<'getMediaModels'>;
  'video get': Response<'getVideoJob'>;
  'video wait': WaitedJobs;
  'video download': JobDocument;
  'models list': ModelList;
  'models get': ModelPrice;
  'profile get': Response<'getProfile'>;
  'profile set': Response<'updateProfile'>;
  captions: CaptionsOutput;
  align: AlignDocument;
  inspect: InspectDocument;
  recover: RecoverDocument;
  'reuse list': StoredAudioList;
  'reuse prune': RemovedAudio;
  'reuse clear': RemovedAudio;
  'auth login': LoginDocument;
  'auth logout': LogoutDocument;
  'auth status': StatusDocument;
  'auth list': AccountList;
  'config get': SettingDocument;
  'config set': SetDocument;
  'config unset': UnsetDocument;
  'config list': SettingList;
  'config path': PathsDocument;
  /** The JSON body of the response. */
  api: unknown;
  serve: ServeDocument | Events<LogLine>;
  /** The messages of the protocol. */
  mcp: Events<unknown>;
  'engine add': EngineDocument;
  'engine list': EngineListDocument;
  'engine remove': RemovedDocument;
  'engine test': EngineTestDocument;
  'engine stop': StoppedDocument;
  doctor: DoctorDocument;
  'completion bash': CompletionDocument;
  'completion zsh': CompletionDocument;
  'completion fish': CompletionDocument;
  'completion powershell': CompletionDocument;
  'completion install': InstalledDocument;
  help: HelpDocument;
  'help exit-codes': ExitCodeList;
  'help flags': GlobalFlagList;
  'help man': ManualDocument;
  /** A JSON Schema. */
  'help schema': Open;
  'help skill': SkillDocument;
}

/** A document of the service. foley prints all its fields. */
interface Open {
  readonly [field: string]: unknown;
}

/** The response of an endpoint, unchanged. A hosted service may leave fields out, and add others. */
interface Response<Endpoint extends EndpointId> extends Open {
  readonly $response: Endpoint;
}

/** The response of the service, with prices. */
interface ModelList extends Response<'getCapabilities'> {
  /** Estimated credits for a character without `--model`, from earlier charges; null until the first charge. */
  readonly creditsPerCharacter: number | null;
  readonly models: readonly ModelPrice[];
}

/** A page of a list as the service sends it; with `--all`, the items of all pages. */
type Listed<Endpoint extends EndpointId> = Response<Endpoint> | AllItems;

interface AllItems {
  readonly items: readonly Open[];
  readonly total: number;
}

/** Lines on stdout, or for `foley serve` on stderr. */
interface Events<Event> {
  readonly $event: Event;
}
