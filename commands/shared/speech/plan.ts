import type { JobApi, JobOptions } from '../../../src/api/resources/jobs.ts';
import { hasField, idempotencyHeader } from '../../../src/api/resources/speech.ts';
import type { SpeechOptions, SpeechOrder } from '../../../src/api/resources/speech.ts';
import type { WrittenCaptions } from '../../../src/captions/caption-files.ts';
import type { Format } from '../../../src/audio/formats.ts';
import type { SettingSources } from '../../../src/config/settings.ts';
import { resolveSetting } from '../../../src/config/settings.ts';
import { TEXT_MAX_CHARACTERS } from '../../../src/contract/limits.ts';
import { SPEECH_FORMATS } from '../../../src/contract/generated/speech-controls.ts';
import type { SpeechSurface, SurfaceName } from '../../../src/contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../../src/contract/speech-surfaces.ts';
import type { AudioFormat } from '../../../src/contract/values.ts';
import type { Output } from '../../../src/durable/output.ts';
import { abortable } from '../../../src/system/concurrency.ts';
import type { Failure } from '../../../src/errors/failure.ts';
import { usageFailure } from '../../../src/errors/failure.ts';
import type { WordTimes } from '../../../src/paid/speakers/aligned-transport.ts';
import type { ReuseStore } from '../../../src/paid/reuse/reuse-store.ts';
import type { Player } from '../../../src/speech/play.ts';
import type { OutputPlan, Spoken } from '../../../src/paid/speakers/speak-stream.ts';
import type { SpokenTextFlags } from '../../../src/speech/speech-text.ts';
import { readSpeech, refuseLongPauses } from '../../../src/speech/speech-text.ts';
import { countCodePoints } from '../../../src/text/code-points.ts';
import type { SpokenText } from '../../../src/text/document.ts';
import type { PausedParts } from '../../../src/text/pauses.ts';
import type { CommandInput, ServiceConnection, Context } from '../../../src/cli/command.ts';
import type { JoinedMarks } from '../../../src/audio/encode/tags.ts';
import type { CaptionFlags, CaptionPlan } from '../flags/captions.ts';
import { captionFlag as givenCaptionFlag, planCaptions } from '../flags/captions.ts';
import type { SoundFlags } from '../flags/sound.ts';
import { soundChanges } from '../flags/sound.ts';
import type { CostFlags, IdFlags, SpeechFlags } from '../flags/speech.ts';
import type { TagFlags } from '../flags/tags.ts';
import { chooseTextSource } from '../choose-text-source.ts';
import { CONTROL_NAMES, flagOf } from '../flags/speech.ts';
import { planMarks } from './marks.ts';
import { noticeEncoding, planOutput } from './output-plan.ts';

export interface TtsFlags
  extends SurfaceFlags, CaptionFlags, CostFlags, SoundFlags, SpokenTextFlags, TagFlags {
  readonly file?: string;
  readonly output?: string;
  readonly clobber: boolean;
  readonly play?: true;
  readonly player?: string;
  readonly dryRun?: true;
  readonly via?: (typeof VIA_NAMES)[number];
  readonly split?: (typeof SPLIT_NAMES)[number];
  readonly waveform?: true;
}

/** The flags of a speech request, with `--api` and the flags that only some API versions support. */
export interface SurfaceFlags extends SpeechFlags, IdFlags {
  readonly api?: SurfaceName;
  readonly cache?: true;
}

export const SPLIT_NAMES = ['auto', 'never'] as const;

export const VIA_NAMES = ['auto', 'sync', 'job', 'aligned'] as const;

export const SURFACE_NAMES = Object.keys(SPEECH_SURFACES).filter(
  (name): name is SurfaceName => name in SPEECH_SURFACES,
);

/** A speech command with valid flags and text. No request has been sent yet. */
export interface SpeechTask {
  readonly context: Context;
  readonly flags: TtsFlags;
  readonly settings: SettingSources;
  readonly chosen: ChosenSurface;
  readonly modelId: string | undefined;
  readonly plan: OutputPlan;
  readonly player: Player | undefined;
  /** The text to send to the service. */
  readonly text: string;
  /**
   * The same text with its pauses, and the document that it comes from. Undefined for plain text, which is sent
   * unchanged.
   */
  readonly spoken: SpokenText | undefined;
  readonly characters: number;
  readonly mode: DeliveryMode;
  readonly captions: CaptionPlan | undefined;
  /** Tags and chapters of the file; undefined if it gets neither. */
  readonly marks: JoinedMarks | undefined;
}

/** The API version to use. Error messages name the version by its flag, such as `--api v2`. */
export interface ChosenSurface {
  readonly name: SurfaceName;
  readonly surface: SpeechSurface;
  readonly flag: string;
}

/** How speech is requested: one streamed response, a stream with word times, or a job. */
export type DeliveryMode =
  | { readonly kind: 'sync' }
  | { readonly kind: 'aligned' }
  | { readonly kind: 'job'; readonly api: JobApi };

/** The body of a speech request, and the parts of a text that needs several requests. */
export interface SpeechBody {
  readonly body: SpeechOrder & { readonly format: AudioFormat };
  /** The parts of a text that is too long for one request or contains pauses. Undefined if one request is enough. */
  readonly parts: PausedParts | undefined;
}

/** Returns the order of each part of a text. */
export function partOrders(
  body: SpeechBody['body'],
  { parts }: PausedParts,
): readonly SpeechBody['body'][] {
  return parts.map(({ text, voice: voiceId = body.voiceId }) => ({ ...body, text, voiceId }));
}

/** A speech request that is ready to send. */
export interface OpenedSpeech extends SpeechBody {
  readonly connection: ServiceConnection;
  /** The open output file; undefined if the audio goes to stdout or a player. */
  readonly output: Output | undefined;
  readonly captions: OpenCaptions | undefined;
  /** The bought audio to reuse (`--reuse`); undefined to buy all audio. */
  readonly reuse: ReuseStore | undefined;
}

/** The result of a speech command. Streamed speech, jobs and long texts in several parts have the same form. */
export interface DeliveredSpeech {
  readonly spoken: Spoken;
  /** Number of requests that spoke the text; more than 1 if the text was split. */
  readonly parts: number;
  /** Whether the response of this API version lists the speech controls that the service ignored. */
  readonly reportsIgnored: boolean;
  readonly isPartial: boolean;
}

/** Open caption files, which have temporary names until `publish` is called. */
export interface OpenCaptions {
  /** Writes the captions to temporary files. */
  prepare(text: string, speech: WordTimes): Promise<void>;
  /** Renames the caption files to their final names. Called after the audio file was renamed. */
  publish(): Promise<PublishedCaptions>;
  /** Removes the temporary files. Never throws. */
  abandon(): Promise<void>;
}

export interface PublishedCaptions {
  readonly items: readonly WrittenCaptions[];
  /** Whether the service reported times for every word. */
  readonly complete: boolean;
}

/**
 * Plans a speech command: checks all flags and settings, and reads the text. Sends nothing.
 * @throws Failure if a flag, a setting or the text is invalid
 */
export async function planTask(
  context: Context,
  { args, options: flags }: CommandInput<TtsFlags>,
): Promise<SpeechTask> {
  const { globals, io, signal } = context;
  refuseSharedStdin(args, flags.file, globals.apiKeyFile);
  const chosen = chooseSurface(flags);
  const settings = await context.settings();
  if (flags.creditRate !== undefined && flags.maxCredits === undefined) {
    throw usageFailure('--credit-rate requires --max-credits');
  }
  const modelId = chooseModel(flags, settings, chosen);
  const captionFlag = givenCaptionFlag(flags);
  const plan = planOutput(
    {
      output: flags.output,
      format: flags.format ?? flags.outputFormat,
      configuredFormat: resolveSetting(settings, 'format')?.value,
      changes: soundChanges(flags),
      json: globals.json === true && flags.dryRun !== true,
      captions: captionFlag !== undefined,
      play: flags.play === true || flags.player !== undefined,
      stdoutIsTerminal: io.stdoutIsTerminal,
    },
    flags.api === undefined
      ? { formats: SPEECH_FORMATS }
      : { flag: chosen.flag, formats: chosen.surface.formats },
  );
  if (plan.kind === 'stdout' && flags.dryRun !== true) io.requireStdout();
  noticeEncoding(context, plan);
  checkWaveform(flags, plan);
  const captions = await planCaptions(flags, settings, context);
  const player = flags.dryRun === true ? undefined : await playerFor(context, flags, plan);
  const source = await chooseTextSource(context, args, flags.file);
  const speech = await abortable(readSpeech(source, flags, settings), signal);
  const { spoken, text } = speech;
  const marks = await planMarks(context, flags, plan, speech);
  const characters = countCodePoints(text);
  if (plan.kind !== 'stdout' && plan.kind !== 'player') refuseLongPauses(spoken, plan.format);
  const hasPauses = spoken !== undefined && spoken.pauses.length > 0;
  if (flags.split === 'never' && !hasPauses && characters > TEXT_MAX_CHARACTERS) {
    throw textTooLong(characters, TEXT_MAX_CHARACTERS);
  }
  const choice = { cache: flags.cache, captionFlag, via: flags.via };
  const mode = chooseMode(choice, chosen, characters, plan);
  return {
    context,
    flags,
    settings,
    chosen,
    modelId,
    plan,
    player,
    text,
    spoken,
    characters,
    mode,
    captions,
    marks,
  };
}

/**
 * Refuses a command that would read both the text and the API key from stdin.
 * @throws Failure of kind `usage` for such a command
 */
export function refuseSharedStdin(
  args: readonly string[],
  file: string | undefined,
  keyFile: string | undefined,
): void {
  const givesText = args.length === 0 && (file === undefined || file === '-');
  if (!givesText || keyFile !== '-') return;
  throw usageFailure(
    'stdin is used twice: for the text, and for the key with --api-key-file -',
    'Give the text as an argument or with -f FILE, or the key in a file.',
  );
}

function chooseSurface(flags: SurfaceFlags): ChosenSurface {
  const name = flags.api ?? 'v3';
  const chosen = { name, surface: SPEECH_SURFACES[name], flag: `--api ${name}` };
  refuseControls(flags, chosen);
  refuseKey(flags, chosen);
  if (flags.cache === true && !chosen.surface.canCache) {
    throw usageFailure(`--cache works with --api v1 only, not with ${chosen.flag}`);
  }
  return chosen;
}

function refuseControls(flags: SurfaceFlags, { flag, surface }: ChosenSurface): void {
  const missing = CONTROL_NAMES.find(
    (name) => flags[name] !== undefined && !hasField(surface, name),
  );
  if (missing === undefined) return;
  const known = CONTROL_NAMES.filter((name) => hasField(surface, name));
  const controlFlag = flagOf(missing, flags[missing]);
  throw usageFailure(
    `${controlFlag} does not work with ${flag}`,
    `Supported: ${known.map((name) => flagOf(name)).join(', ')}.`,
  );
}

function refuseKey(
  { idempotencyKey, requestId }: SurfaceFlags,
  { flag, name }: ChosenSurface,
): void {
  if (idempotencyKey === undefined) return;
  const header = idempotencyHeader(name);
  if (header === undefined) {
    throw usageFailure(
      `--idempotency-key does not work with ${flag}: the service does not recognize repeated requests there`,
      'Leave it out, or use another --api.',
    );
  }
  if (header === 'X-Request-Id' && requestId !== undefined && requestId !== idempotencyKey) {
    throw usageFailure(
      `--request-id and --idempotency-key differ, but with ${flag} the request id is the idempotency key`,
      'Give one of them.',
    );
  }
}

function chooseModel(
  flags: SurfaceFlags,
  settings: SettingSources,
  { flag, surface }: ChosenSurface,
): string | undefined {
  const model = resolveSetting(settings, 'model', flags.model)?.value;
  if (model !== undefined || !surface.isModelRequired) return model;
  throw usageFailure(
    `${flag} requires a model id, with --model or FOLEY_MODEL`,
    '`foley models list` shows the model ids.',
  );
}

function checkWaveform({ waveform }: TtsFlags, plan: OutputPlan): void {
  if (waveform !== true) return;
  if (plan.format === 'pcm') {
    throw usageFailure(
      '--waveform does not work with the format pcm',
      'Request mp3, wav or ogg with --format.',
    );
  }
  if (plan.kind === 'stdout' || plan.kind === 'player') {
    throw usageFailure('--waveform requires an output file', 'Name the file with -o.');
  }
}

/**
 * Returns the program that will play the audio; undefined if neither `--play` nor `--player` is given.
 * @throws Failure of kind `usage` when no player is installed
 */
export async function playerFor(
  context: Context,
  { play, player }: TtsFlags,
  { encoding, format: made, kind }: OutputPlan<Format>,
): Promise<Player | undefined> {
  if (play !== true && player === undefined) return undefined;
  const { findPlayer, findProgram, requireInterpreter } =
    await import('../../../src/speech/play.ts');
  const { platform } = context.system;
  // A file is played after it was written, a stream as the service sends it.
  const format = kind === 'file' || kind === 'automatic' ? (encoding ?? made) : made;
  const found = await findPlayer({ format, own: player, platform }, (command) =>
    findProgram(context.system, command, context.env),
  );
  await requireInterpreter(context.system, found);
  return found;
}

/** Creates the failure for a text that is too long for one request. */
export function textTooLong(characters: number, limit: number): Failure {
  return usageFailure(
    `the text has ${characters} characters; one request accepts at most ${limit}`,
    'Without --split never, foley speaks it in parts and joins them.',
  );
}

// The service recommends a job for longer texts (docs/api/speech.md).
const SYNC_CHARACTERS = 2_500;

interface DeliveryOptions {
  readonly cache?: TtsFlags['cache'] | undefined;
  readonly via?: TtsFlags['via'] | undefined;
  /** The flag that requests word times, such as `--subtitles`; undefined if no such flag is given. */
  readonly captionFlag?: string | undefined;
}

/**
 * Chooses how speech is requested (`--via`). By default, foley streams the audio. A long text becomes a job instead if
 * its audio goes to a file and the API version has jobs. The audio of a job can be downloaded again.
 * @throws Failure of kind `usage` if another flag cannot be combined with the mode
 */
export function chooseMode(
  { cache, captionFlag, via: given = 'auto' }: DeliveryOptions,
  chosen: ChosenSurface,
  characters: number,
  plan: OutputPlan,
): DeliveryMode {
  const { flag, name } = chosen;
  if (captionFlag !== undefined) checkAligned(captionFlag, given, chosen);
  const via = captionFlag === undefined ? given : 'aligned';
  const api = name === 'v3' || name === 'v1' ? name : undefined;
  switch (via) {
    case 'sync':
      return { kind: 'sync' };
    case 'aligned':
      if (name === 'v3') return { kind: 'aligned' };
      throw usageFailure(`--via aligned works with --api v3 only, not with ${flag}`);
    case 'job':
      if (api === undefined) {
        throw usageFailure(`--via job works with --api v3 and v1, not with ${flag}`);
      }
      if (cache === true) {
        throw usageFailure(
          '--cache works with synchronous requests, not with --via job',
          'Leave one of them out; the service stores the audio of a job anyway.',
        );
      }
      return { kind: 'job', api };
    case 'auto': {
      const toFile = plan.kind === 'file' || plan.kind === 'automatic';
      const isJob = toFile && characters > SYNC_CHARACTERS && api !== undefined && cache !== true;
      return isJob ? { kind: 'job', api } : { kind: 'sync' };
    }
  }
}

function checkAligned(
  captionFlag: string,
  via: NonNullable<TtsFlags['via']>,
  { flag, name }: ChosenSurface,
): void {
  if (name !== 'v3') {
    throw usageFailure(
      `${captionFlag} works with --api v3 only: ${flag} has no word times`,
      'Leave --api out.',
    );
  }
  if (via === 'sync' || via === 'job') {
    throw usageFailure(
      `${captionFlag} needs word times, which --via ${via} does not have`,
      'Leave --via out, or use --via aligned.',
    );
  }
}

/**
 * Returns the options of a speech request. If the API version supports idempotency keys and the user gave none, creates
 * a key.
 */
export function speechOptions({ chosen: { name }, context, flags }: SpeechTask): SpeechOptions {
  const { idempotencyKey, requestId } = flags;
  const header = idempotencyHeader(name);
  const own = idempotencyKey ?? (header === 'X-Request-Id' ? requestId : undefined);
  return {
    surface: name,
    cache: flags.cache,
    idempotencyKey:
      header === undefined
        ? undefined
        : { value: own ?? context.system.random.uuid(), madeByTool: own === undefined },
    requestId,
    signal: context.signal,
  };
}

/** Returns the options of a request that creates a speech job. */
export function jobOptions(task: SpeechTask, api: JobApi): JobOptions {
  const { idempotencyKey, requestId, signal } = speechOptions(task);
  if (idempotencyKey === undefined) throw new Error(`${task.chosen.flag} has no jobs`);
  return { api, idempotencyKey, requestId, signal };
}
