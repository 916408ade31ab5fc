import { tmpdir } from 'node:os';
import { reviseFailure } from '../../../src/api/failures.ts';
import type { RequestSpec } from '../../../src/api/request.ts';
import { hasField, speechRequest } from '../../../src/api/resources/speech.ts';
import type { Format } from '../../../src/audio/formats.ts';
import { describeSound } from '../../../src/audio/verify.ts';
import { describeOrigin, resolveSetting } from '../../../src/config/settings.ts';
import type { ControlName } from '../../../src/contract/generated/speech-controls.ts';
import type { Output } from '../../../src/durable/output.ts';
import { abortable } from '../../../src/system/concurrency.ts';
import { Failure } from '../../../src/errors/failure.ts';
import {
  checkPronunciations,
  pronunciationsOf,
  refusePronunciations,
} from '../../../src/speech/pronunciations.ts';
import type {
  OutputPlan,
  AudioStream,
  SpeechTransport,
  Spoken,
} from '../../../src/paid/speakers/speak-stream.ts';
import { openPlanned, speak } from '../../../src/paid/speakers/speak-stream.ts';
import { pauseMs } from '../../../src/speech/speech-text.ts';
import type { Player } from '../../../src/speech/play.ts';
import type { Playback } from '../../../src/speech/playback.ts';
import type { LeftOutWord } from '../../../src/paid/unspoken.ts';
import { describeUnspoken, unspokenWords } from '../../../src/paid/unspoken.ts';
import type { ReuseFields } from '../../../src/paid/reuse/reused.ts';
import { reuseFields } from '../../../src/paid/reuse/reused.ts';
import type { SpokenText } from '../../../src/text/document.ts';
import { splitAtPauses } from '../../../src/text/pauses.ts';
import type { ServiceConnection, Context } from '../../../src/cli/command.ts';
import { CONFIGURABLE_CONTROLS, CONTROL_NAMES, controlsToSend } from '../flags/speech.ts';
import { namedVoice } from '../flags/voices.ts';
import { openJournal, openReuse, openSpool } from '../journal.ts';
import type { Progress } from '../../../src/cli/render/progress.ts';
import { startProgress } from '../../../src/cli/render/progress.ts';
import type { CommandResult, DryRunDocument } from '../../../src/cli/render/result.ts';
import { describeCost, dryRunResult } from '../../../src/cli/render/result.ts';
import type {
  DeliveredSpeech,
  DeliveryMode,
  OpenCaptions,
  SpeechBody,
  OpenedSpeech,
  SpeechTask,
} from './plan.ts';
import { checkPrice, rememberPrice } from './price.ts';
import { stdoutAudio } from '../stdout-audio.ts';
import { chooseMode, jobOptions, partOrders, speechOptions } from './plan.ts';
import type { CaptionsDocument } from './captions.ts';

/**
 * Builds the body of a speech request. If the user gives the name of a voice, looks up the voice id.
 * @throws Failure of kind `usage` if the voice does not exist
 */
export async function speechOrder(
  { chosen, context, flags, modelId, plan: { format }, settings, spoken, text }: SpeechTask,
  { client, target }: ServiceConnection,
): Promise<SpeechBody['body']> {
  const { flag, surface } = chosen;
  if (!hasField(surface, 'pronunciations')) refusePronunciations(spoken, flag);
  // A text that begins with a mark of a voice needs no other one.
  const first =
    flags.voice === undefined && flags.voiceName === undefined ? firstVoice(spoken) : undefined;
  const chosenVoice = first === undefined ? flags : { ...flags, voice: first };
  const voiceId = await namedVoice(context, chosenVoice, client, target, text);
  const { pronunciations = [] } = spoken ?? {};
  await checkPronunciations(client, voiceId, pronunciations, context.signal);
  const isSent = (name: string): boolean =>
    CONTROL_NAMES.some((control) => control === name && hasField(surface, control));
  const controls = Object.entries(controlsToSend(flags, settings)).filter(([name]) => isSent(name));
  for (const name of CONFIGURABLE_CONTROLS.filter((control: ControlName) => !isSent(control))) {
    const setting = resolveSetting(settings, name);
    if (setting === undefined) continue;
    const origin = describeOrigin(setting.origin);
    context.io.notice(`foley: ${name} of ${origin} is not sent: ${flag} does not have it`);
  }
  return {
    text,
    voiceId,
    ...(modelId === undefined ? {} : { modelId }),
    format,
    ...Object.fromEntries(controls),
    ...pronunciationsOf(spoken),
  };
}

function firstVoice(spoken: SpokenText | undefined): string | undefined {
  if (spoken === undefined) return undefined;
  const { parts } = splitAtPauses(spoken, Number.MAX_SAFE_INTEGER);
  return parts[0]?.voice;
}

/**
 * Returns the requests that the command would send, as `--dry-run` prints them. Sends no billed request, but may look
 * up voices and models.
 */
export async function describeTask(task: SpeechTask): Promise<CommandResult<DryRunDocument>> {
  const connection = await task.context.connect();
  const { client } = connection;
  const { body, parts } = await splitBody(task, connection);
  if (parts === undefined) {
    return dryRunResult(client.describe(await requestOf(task, connection, body)));
  }
  const { partRequests } = await import('./long-text.ts');
  const mode = modeFor(task, undefined, true);
  const requests = partRequests(task, client, partOrders(body, parts), mode);
  return dryRunResult(
    requests.map((request) => client.describe(request)),
    parts.silences.flatMap((ms, afterPart) => (ms === 0 ? [] : [{ afterPart, ms }])),
  );
}

async function requestOf(
  task: SpeechTask,
  { client }: ServiceConnection,
  body: SpeechBody['body'],
): Promise<RequestSpec> {
  const { mode } = task;
  if (mode.kind === 'sync') return speechRequest(client, body, speechOptions(task));
  if (mode.kind === 'aligned') {
    const { alignedRequest } = await import('../../../src/api/resources/aligned.ts');
    return alignedRequest(client, body, speechOptions(task));
  }
  const { speechJobRequest } = await import('../../../src/api/resources/jobs.ts');
  return speechJobRequest(client, body, jobOptions(task, mode.api));
}

// Up to this length, foley does not look up the limit of the model: no known model has a lower limit, and the
// service does not bill a text that it refuses.
const SHORT_TEXT_CHARACTERS = 1_000;

async function splitBody(task: SpeechTask, connection: ServiceConnection): Promise<SpeechBody> {
  const body = await speechOrder(task, connection);
  const isShort = task.characters <= SHORT_TEXT_CHARACTERS;
  if (hasPauses(task) || task.marks !== undefined) {
    const { splitPausedText } = await import('./long-text.ts');
    return splitPausedText(task, connection, body, isShort);
  }
  if (isShort) return { body, parts: undefined };
  const { splitLongText } = await import('./long-text.ts');
  return splitLongText(task, connection, body);
}

function hasPauses({ spoken }: SpeechTask): boolean {
  return spoken !== undefined && spoken.pauses.length > 0;
}

/** The result of speaking a text. */
interface SpeechResult extends CommandResult<SpeechDocument> {
  readonly data: SpeechDocument;
}

/** Speaks a text and delivers the audio. */
export async function speakTask(task: SpeechTask): Promise<SpeechResult> {
  const { context } = task;
  const output = await openOutputFile(task);
  let captions: OpenCaptions | undefined;
  try {
    captions = await openCaptionFiles(task);
    const connection = await abortable(context.connect({ speaks: true }), context.signal);
    const { body, parts } = await splitBody(task, connection);
    const mode = modeFor(task, output, parts !== undefined);
    const reuse = await openReuse(context, connection.client, task.flags.reuse);
    const request = { body, captions, connection, output, parts, reuse };
    return await deliverSpeech(task, request, mode);
  } finally {
    // Does nothing after the files were published or spooled.
    await output?.abandon();
    await captions?.abandon();
  }
}

/** Opens the output file of a task; undefined if the audio goes to stdout or a player. */
export async function openOutputFile({
  context,
  flags,
  marks,
  plan,
  spoken,
  text,
}: SpeechTask): Promise<Output | undefined> {
  const { state } = await context.paths();
  const silenceMs = pauseMs(spoken);
  const warn = (sentence: string): void => context.io.warn(sentence);
  const noClobber = !flags.clobber;
  return openPlanned(context.system, plan, {
    signal: context.signal,
    text,
    silenceMs,
    noClobber,
    state,
    warn,
    marks,
  });
}

async function openCaptionFiles(task: SpeechTask): Promise<OpenCaptions | undefined> {
  const { captions, context, flags, spoken, text } = task;
  if (captions === undefined) return undefined;
  const { editsOf, openCaptions } = await import('./captions.ts');
  const existing = flags.clobber ? 'replace' : 'refuse';
  return openCaptions(captions, context, existing, { text, edits: editsOf(spoken) });
}

function modeFor(task: SpeechTask, output: Output | undefined, isInParts: boolean): DeliveryMode {
  const { chosen, flags, mode, plan } = task;
  if (mode.kind === 'aligned') return mode;
  const streams = output !== undefined && output.temporary === undefined;
  if (streams && flags.via !== 'job') return { kind: 'sync' };
  const { cache, via } = flags;
  return isInParts && !hasPauses(task) && task.marks === undefined
    ? chooseMode({ cache, via }, chosen, Infinity, plan)
    : mode;
}

async function deliverSpeech(
  task: SpeechTask,
  request: OpenedSpeech,
  mode: DeliveryMode,
): Promise<SpeechResult> {
  const { context, flags, plan, player } = task;
  await checkPrice(task, request, mode.kind === 'aligned');
  const progress = startProgress(context.io, context.system.clock, 'speaking');
  // An output file is played after it was published.
  const playback =
    player === undefined || request.output !== undefined
      ? undefined
      : await openPlayback(player, context);
  try {
    const stream = streamOf(context, plan, playback);
    const delivered = await speakIn(mode, task, request, { progress, stream });
    const { isPartial, spoken } = delivered;
    progress.stop();
    context.io.notice(describeSpeech(spoken));
    const unspoken = unspokenWords(task.text, spoken.response.unspoken);
    if (unspoken.length > 0) {
      context.io.warn(describeUnspoken(unspoken, { voice: request.body.voiceId }));
    }
    const captions = await publishCaptionFiles(request, spoken.path, context);
    if (spoken.path !== undefined && flags.waveform === true) {
      const { showWaveform } = await import('../waveform.ts');
      await showWaveform(spoken.path, context);
    }
    if (spoken.path !== undefined && player !== undefined) {
      await playFile(player, spoken.path, context);
    }
    const document = speechDocument(delivered, request, unspoken);
    const data = captions === undefined ? document : { ...document, captions: captions.items };
    const isWhole = !isPartial && unspoken.length === 0 && captions?.complete !== false;
    return isWhole ? { data } : { data, exit: 'partial' };
  } finally {
    progress.stop();
    await playback?.stop();
  }
}

async function publishCaptionFiles(
  { captions }: OpenedSpeech,
  audio: string | undefined,
  context: Context,
): Promise<{ readonly complete: boolean; readonly items: CaptionsDocument } | undefined> {
  if (captions === undefined) return undefined;
  const { captionsDocument, publishCaptions } = await import('./captions.ts');
  const published = await publishCaptions(captions, audio, context);
  return { complete: published.complete, items: captionsDocument(published) };
}

async function speakIn(
  mode: DeliveryMode,
  task: SpeechTask,
  request: OpenedSpeech,
  { progress, stream }: { readonly progress: Progress; readonly stream: AudioStream },
): Promise<DeliveredSpeech> {
  const { parts } = request;
  let delivered: DeliveredSpeech;
  if (parts !== undefined) {
    const { speakInParts } = await import('./long-text.ts');
    delivered = await speakInParts(task, { ...request, parts }, mode, { progress, stream });
  } else if (mode.kind === 'job') {
    const { reuse } = request;
    // Reused audio needs no job.
    const isStored = (await reuse?.has({ surface: mode.api, order: request.body })) === true;
    if (isStored) return speakStream(task, request, stream, { kind: 'sync' });
    const { speakThroughJob } = await import('./job.ts');
    delivered = await speakThroughJob(task, request, mode.api, { progress, stream });
  } else {
    return speakStream(task, request, stream, mode);
  }
  await rememberPrice(task, request, delivered.spoken.response);
  return delivered;
}

async function speakStream(
  task: SpeechTask,
  request: OpenedSpeech,
  stream: AudioStream,
  mode: DeliveryMode,
): Promise<DeliveredSpeech> {
  const { context, plan } = task;
  const { body, connection, output, reuse } = request;
  // Create the key once: the journaled key must be the sent key.
  const speech = speechOptions(task);
  let transport: SpeechTransport | undefined;
  if (mode.kind === 'aligned') {
    const { alignedTransport } = await import('./captions.ts');
    transport = alignedTransport(task, request, speech);
  }
  const { journal } = await openJournal(context);
  try {
    const spoken = await speak({
      client: connection.client,
      body,
      speech,
      transport,
      format: plan.format,
      output,
      stream,
      journal,
      reuse,
      spool: () => openSpool(context),
      notice: (line) => context.io.notice(line),
    });
    await Promise.all([journal.close(), rememberPrice(task, request, spoken.response)]);
    const reportsIgnored = task.chosen.surface.listsIgnored;
    return { spoken, parts: 1, reportsIgnored, isPartial: false };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

const MEBIBYTE = 1024 * 1024;

/** Returns the stream that receives the audio if there is no output file: stdout, a player, or both. */
export function streamOf(
  { io }: Context,
  { encoding, kind }: OutputPlan<Format>,
  playback: Playback | undefined,
): AudioStream {
  const stdout = kind === 'stdout' ? stdoutAudio(io, encoding) : undefined;
  return {
    // A player buffers little: audio stays in memory until it was played.
    memoryBytes: (stdout === undefined ? 32 : 8) * MEBIBYTE,
    async write(chunk) {
      await stdout?.write(chunk);
      await playback?.write(chunk);
    },
    async end() {
      await stdout?.end();
      await playback?.end();
    },
    encoded: stdout?.encoded,
  };
}

/** Starts a player that plays the audio while it arrives. */
export async function openPlayback(player: Player, context: Context): Promise<Playback> {
  const { startPlayback } = await import('../../../src/speech/playback.ts');
  const notice = (sentence: string): void => context.io.notice(sentence);
  return startPlayback(player, {
    system: context.system,
    signal: context.signal,
    notice,
    temporaryFolder: tmpdir(),
  });
}

/**
 * Plays an existing file.
 * @throws Failure if the player fails; its hint names the file
 */
export async function playFile(player: Player, file: string, context: Context): Promise<void> {
  const playback = await openPlayback(player, context);
  const stop = (): void => void playback.stop();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    const handle = await context.system.files.open(file, 'r');
    for await (const chunk of handle.createReadStream()) await playback.write(chunk);
    await playback.end();
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    throw reviseFailure(error, { hint: `The audio is in ${file}. ${error.hint ?? ''}`.trimEnd() });
  } finally {
    context.signal.removeEventListener('abort', stop);
    await playback.stop();
  }
}

/** Delivered speech, as `--json` describes it. */
export interface SpeechDocument extends Partial<ReuseFields> {
  /** Path of the file; null if the audio went to stdout or a player. */
  readonly output: string | null;
  readonly bytes: number;
  readonly format: Format;
  readonly voiceId: string;
  /** Null if the service chose the model. */
  readonly modelId: string | null;
  readonly requestId: string;
  /** Null if the service does not report the price. */
  readonly creditsUsed: number | null;
  readonly quotaRemaining: number | null;
  /** The controls that the model did not apply; null if the service does not report them. */
  readonly ignoredParameters: readonly string[] | null;
  /** Number of requests that spoke the text. */
  readonly parts: number;
  readonly target: 'embedded' | 'hosted';
  /** Duration of the audio in milliseconds; null if the format does not tell it. */
  readonly durationMs: number | null;
  /** The words that the voice left out. */
  readonly unspoken: readonly LeftOutWord[];
  readonly captions?: CaptionsDocument;
}

function speechDocument(
  { parts, reportsIgnored, spoken: { response, path, verdict } }: DeliveredSpeech,
  { body: { modelId, voiceId }, connection: { target }, reuse }: OpenedSpeech,
  unspoken: SpeechDocument['unspoken'],
): SpeechDocument {
  return {
    output: path ?? null,
    bytes: verdict.bytes,
    format: verdict.format,
    voiceId,
    modelId: modelId ?? null,
    requestId: response.requestId,
    creditsUsed: response.creditsUsed ?? null,
    ...(reuse === undefined ? {} : reuseFields(response.reused)),
    quotaRemaining: response.quotaRemaining ?? null,
    // null: the response does not report them.
    ignoredParameters: reportsIgnored ? response.ignoredParameters : null,
    parts,
    target,
    durationMs: verdict.durationMs === undefined ? null : Math.round(verdict.durationMs),
    unspoken,
  };
}

/** Formats a line for stderr about the delivered audio and its cost. */
export function describeSpeech({ response, path, verdict }: Spoken): string {
  const sound = describeSound(verdict);
  return describeCost(path === undefined ? sound : `${path}: ${sound}`, response);
}
