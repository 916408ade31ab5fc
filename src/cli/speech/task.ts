import type { JobApi } from '../../api/resources/jobs.ts';
import type { SpeechOptions, SpeechOrder } from '../../api/resources/speech.ts';
import type { WrittenCaptions } from '../../captions/caption-files.ts';
import type { SettingSources } from '../../config/settings.ts';
import type { SpeechSurface, SurfaceName } from '../../contract/speech-surfaces.ts';
import type { Output } from '../../durable/output.ts';
import type { AlignedSpeech } from '../../speech/aligned-way.ts';
import type { OutputPlan } from '../../speech/output-plan.ts';
import type { Player } from '../../speech/play.ts';
import type { AudioStream } from '../../speech/speak.ts';
import type { TextPiece } from '../../text/sentences.ts';
import type { Context, Connection } from '../command.ts';
import type { SpeechFlags } from '../flags/speech.ts';
import type { Progress } from '../render/progress.ts';
import type { CaptionPlan, CaptionFlags } from './captions.ts';
import type { ToldSpeech } from './summary.ts';

/** What is going to be spoken, and where it will go; nothing has been asked of the service yet. */
export interface Task {
  readonly context: Context;
  readonly flags: TtsFlags;
  readonly settings: SettingSources;
  readonly chosen: ChosenSurface;
  readonly modelId: string | undefined;
  readonly plan: OutputPlan;
  readonly player: Player | undefined;
  readonly text: string;
  readonly characters: number;
  readonly via: Via;
  /** The captions that are asked for. */
  readonly captions: CaptionPlan | undefined;
}

/**
 * How speech is asked for: in one answer, as a job whose audio is fetched, or in a stream that also tells
 * the times of the words.
 */
export type Via =
  | { readonly kind: 'sync' }
  | { readonly kind: 'aligned' }
  | { readonly kind: 'job'; readonly api: JobApi };

/** What is asked for, and the file that it goes into, if it is one. */
export interface SpeechTask extends PricedRequest {
  readonly output: Output | undefined;
  /** Files for the times of its words, where they are asked for. */
  readonly captions?: OpenCaptions | undefined;
  readonly speech: SpeechOptions;
  /** What it is spoken in, where the text is too long for one request. */
  readonly parts?: readonly TextPiece[] | undefined;
}

/** Speech that is where it should be, whichever way it was asked for. */
export interface Delivered {
  readonly spoken: ToldSpeech;
  /** How many requests the text took. */
  readonly parts: number;
  /** Whether the way that was taken tells which controls were not applied. */
  readonly tellsIgnored: boolean;
  /** Only a part of the text could be spoken. */
  readonly isPartial: boolean;
}

/** Captions on their way into their files. */
export interface OpenCaptions {
  /** Whether they are written. */
  readonly isPrepared: boolean;
  /** Writes them beside their names. */
  prepare(text: string, speech: AlignedSpeech): Promise<void>;
  /** Gives them their names, when the audio has its own. */
  publish(): Promise<ToldCaptions>;
  /** Removes what has no name yet; never throws. */
  abandon(): Promise<void>;
}

/** Through which interface the job goes, and who hears of it. */
export interface JobWay {
  readonly api: JobApi;
  /** Where the audio goes that goes into no file. */
  readonly stream: AudioStream;
  readonly progress: Progress;
}

/** Captions that are where they should be. */
export interface ToldCaptions {
  readonly items: readonly WrittenCaptions[];
  /** Whether the service told the times of the whole text. */
  readonly complete: boolean;
}

/** An interface as the person chose it. */
export interface ChosenSurface {
  readonly name: SurfaceName;
  readonly surface: SpeechSurface;
  /** For messages: `--api v2`. */
  readonly flag: string;
}

/** The flags that say which interface is asked, and those that not every interface has. */
export interface SurfaceFlags extends SpeechFlags {
  readonly api?: SurfaceName;
  readonly cache?: true;
  readonly idempotencyKey?: string;
  readonly requestId?: string;
}

/** A request and the service that it is for. */
export interface PricedRequest {
  readonly body: SpeechOrder;
  readonly connection: Connection;
}

export interface TtsFlags extends SurfaceFlags, CaptionFlags {
  readonly file?: string;
  readonly output?: string;
  readonly clobber: boolean;
  readonly play?: true;
  readonly player?: string;
  readonly maxCredits?: number;
  readonly creditRate?: number;
  readonly dryRun?: true;
  readonly via?: ViaName;
  readonly split?: SplitName;
  readonly waveform?: true;
}

export type SplitName = (typeof SPLIT_NAMES)[number];

export type ViaName = (typeof VIA_NAMES)[number];

/** What `--split` takes, in the order of the help. */
export const SPLIT_NAMES = ['auto', 'never'] as const;

/** The ways of `--via`, in the order of the help. */
export const VIA_NAMES = ['auto', 'sync', 'job', 'aligned'] as const;
