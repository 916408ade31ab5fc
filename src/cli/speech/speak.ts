import type { ApiClient } from '../../api/client.ts';
import type { RequestSpec } from '../../api/request.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { speechRequest } from '../../api/resources/speech.ts';
import type { Format } from '../../audio/formats.ts';
import { resolveSetting } from '../../config/settings.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { Output } from '../../durable/output.ts';
import { untilStopped } from '../../effects/concurrency.ts';
import { usageFailure, Failure } from '../../errors/failure.ts';
import type { TextLimit } from '../../speech/long-text/plan.ts';
import { openPlanned, planOutput } from '../../speech/output-plan.ts';
import type { OutputPlan, OutputSurface } from '../../speech/output-plan.ts';
import type { Player } from '../../speech/play.ts';
import { readText } from '../../speech/text-source.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { TextPiece } from '../../text/sentences.ts';
import type { CommandInput, Context, Connection } from '../command.ts';
import type { CommandResult } from '../render/result.ts';
import { captionFlag as givenCaptionFlag, planCaptions } from './captions.ts';
import { deliverSpeech } from './delivery.ts';
import { jobOptions, speechOptions, speechOrder, chooseModel, chooseSurface } from './order.ts';
import { dryRunParts, dryRunResult } from './summary.ts';
import type {
  Task,
  Via,
  OpenCaptions,
  ChosenSurface,
  TtsFlags,
  SplitName,
  ViaName,
} from './task.ts';
import { checkWaveform } from './waveform.ts';

/**
 * Checks everything that can be checked before anything is sent.
 * @throws Failure (usage, config)
 */
export async function planTask(
  context: Context,
  { args, options: flags }: CommandInput<TtsFlags>,
): Promise<Task> {
  const { files, globals, io, signal } = context;
  refuseSharedStdin(args, flags.file, globals.apiKeyFile);
  const chosen = chooseSurface(flags);
  const settings = await context.settings();
  if (flags.creditRate !== undefined && flags.maxCredits === undefined) {
    throw usageFailure('--credit-rate means something only with --max-credits');
  }
  const modelId = chooseModel(flags, settings, chosen);
  const wishes = {
    output: flags.output,
    format: flags.format ?? flags.outputFormat,
    configuredFormat: resolveSetting(settings, 'format')?.value,
    json: globals.json === true && flags.dryRun !== true,
    captions: givenCaptionFlag(flags) !== undefined,
    play: flags.play === true || flags.player !== undefined,
    stdoutIsTerminal: io.stdoutIsTerminal,
  };
  const plan = planOutput(wishes, flags.api === undefined ? undefined : surfaceOf(chosen));
  if (plan.kind === 'stdout' && flags.dryRun !== true) io.requireStdout();
  checkWaveform(flags, plan);
  const captions = planCaptions(flags, settings, { cwd: context.cwd(), plan });
  const player = flags.dryRun === true ? undefined : await playerFor(context, flags, plan);
  const { stdin, stdinIsTerminal } = io;
  const source = { args, file: flags.file, stdin, stdinIsTerminal, files, signal };
  const text = await untilStopped(readText(source), signal);
  const characters = countCodePoints(text);
  checkLength(characters, flags.split);
  const via = chooseVia({
    ...flags,
    captionFlag: givenCaptionFlag(flags),
    chosen,
    characters,
    plan,
  });
  const what = { modelId, text, characters, plan, player, via, captions };
  return { context, flags, settings, chosen, ...what };
}

function surfaceOf({ flag, surface: { formats } }: ChosenSurface): OutputSurface {
  return { flag, formats };
}

/**
 * Stdin is read once: it cannot give both the text and the key.
 * @throws Failure (usage)
 */
export function refuseSharedStdin(
  args: readonly string[],
  file: string | undefined,
  keyFile: string | undefined,
): void {
  const givesText = args.length === 0 && (file === undefined || file === '-');
  if (!givesText || keyFile !== '-') return;
  throw usageFailure(
    'stdin is asked for twice: for the text, and for the key with --api-key-file -',
    'Give the text as an argument or with -f FILE, or the key in a file.',
  );
}

/**
 * The program that will play, where that is asked for.
 * @throws Failure (usage) when there is none
 */
export async function playerFor(
  context: Context,
  { play, player }: Pick<TtsFlags, 'play' | 'player'>,
  { format }: OutputPlan<Format>,
): Promise<Player | undefined> {
  if (play !== true && player === undefined) return undefined;
  const [{ findPlayer }, { findProgram }] = await Promise.all([
    import('../../speech/play.ts'),
    import('../../speech/play.ts'),
  ]);
  return findPlayer({ format, own: player }, (command) => findProgram(command, context));
}

/** The request that would be sent (`--dry-run`). Voices may be looked up; nothing billable is sent. */
export async function describeTask(task: Task): Promise<CommandResult> {
  const connection = await task.context.connect();
  const { client } = connection;
  const whole = await speechOrder(task, connection);
  const { body, parts } = await splitOrder(task, connection, whole);
  if (parts === undefined) {
    return dryRunResult(client.describe(await requestOf(task, client, body)));
  }
  const { partRequests } = await import('./long-text.ts');
  const requests = partRequests(
    task,
    { client, body },
    { parts, via: viaFor(task, undefined, true) },
  );
  return dryRunParts(requests.map((request) => client.describe(request)));
}

async function requestOf(task: Task, client: ApiClient, body: SpeechOrder): Promise<RequestSpec> {
  const { via } = task;
  if (via.kind === 'sync') return speechRequest(client, body, speechOptions(task));
  if (via.kind === 'aligned') {
    const { alignedRequest } = await import('../../api/resources/aligned.ts');
    return alignedRequest(client, body, speechOptions(task));
  }
  const { speechJobRequest } = await import('../../api/resources/jobs.ts');
  return speechJobRequest(client, body, jobOptions(task, via.api));
}

/** Opens the output, then asks the service, and delivers. */
export async function speakTask(task: Task): Promise<CommandResult> {
  const { context, flags, plan, text } = task;
  const { signal } = context;
  const { state } = await context.paths();
  const output = await openPlanned(plan, { ...context, text, noClobber: !flags.clobber, state });
  let captions: OpenCaptions | undefined;
  try {
    captions = await captionsFor(task);
    const connection = await untilStopped(context.connect({ speaks: true }), signal);
    const whole = await speechOrder(task, connection);
    const { body, parts } = await splitOrder(task, connection, whole);
    const request = { body, captions, connection, output, parts, speech: speechOptions(task) };
    return await deliverSpeech(task, request, viaFor(task, output, parts !== undefined));
  } finally {
    // After it was published or kept this does nothing.
    await output?.abandon();
    await captions?.abandon();
  }
}

async function captionsFor({
  captions,
  context,
  flags,
  text,
}: Task): Promise<OpenCaptions | undefined> {
  if (captions === undefined) return undefined;
  const { openCaptions } = await import('./aligned.ts');
  return openCaptions(captions, context, flags.clobber ? 'replace' : 'refuse', text);
}

/**
 * Into a pipe or a device nothing is a job that was not asked for as one: there it shall stream. Into a
 * file everything is that is spoken in parts, however short.
 */
function viaFor(task: Task, output: Output | undefined, isInParts: boolean): Via {
  const { chosen, flags, plan, via } = task;
  if (via.kind === 'aligned') return via;
  const streams = output !== undefined && output.temporary === undefined;
  if (streams && flags.via !== 'job') return { kind: 'sync' };
  return isInParts ? chooseVia({ ...flags, chosen, plan, characters: Infinity }) : via;
}

/**
 * Refuses what no model takes at once and may not be cut.
 * @throws Failure (usage)
 */
function checkLength(characters: number, split: SplitName | undefined): void {
  if (split === 'never' && characters > TEXT_MAX_CHARACTERS) {
    throw tooLong(characters, TEXT_MAX_CHARACTERS);
  }
}

/** What is asked for, and the parts it is cut into; undefined for a text that is sent as it is. */
interface SplitOrder<Order extends SpeechOrder> {
  readonly body: Order;
  readonly parts: readonly TextPiece[] | undefined;
}

/**
 * Cuts a text that is longer than its model takes (`--split`). The model that it is cut
 * for is sent. Looks at the models only when the text is long.
 * @throws Failure; (usage) when it may not be cut
 */
async function splitOrder<Order extends SpeechOrder>(
  { characters, context, flags, text }: Task,
  { client }: Connection,
  body: Order,
): Promise<SplitOrder<Order>> {
  if (characters <= SHORT_TEXT_CHARACTERS) return { body, parts: undefined };
  const limit = await limitOf(client, body, { characters, signal: context.signal });
  if (characters <= limit.characters) return { body, parts: undefined };
  if (flags.split === 'never') throw tooLong(characters, limit.characters);
  const { splitParts } = await import('../../text/parts.ts');
  const { modelId } = limit;
  return {
    body: modelId === undefined ? body : { ...body, modelId },
    parts: splitParts(text, limit.characters),
  };
}

/** Where nobody tells what a model takes, a text that one of them may take is left to the service. */
async function limitOf(
  client: ApiClient,
  body: SpeechOrder,
  { characters, signal }: { readonly characters: number; readonly signal: AbortSignal },
): Promise<TextLimit> {
  const { textLimit } = await import('../../speech/long-text/plan.ts');
  return textLimit(client, body, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof Failure && characters <= TEXT_MAX_CHARACTERS) {
      return { characters: TEXT_MAX_CHARACTERS, modelId: undefined };
    }
    throw error;
  });
}

/**
 * Texts up to this length are sent without a look at the models: none that is known takes less, and a
 * service refuses what it does not take before it costs anything.
 */
const SHORT_TEXT_CHARACTERS = 1_000;

function tooLong(characters: number, limit: number): Failure {
  return usageFailure(
    `the text has ${characters} characters; one request takes at most ${limit}`,
    'Leave --split never out, and it is spoken in parts and joined.',
  );
}

/** Above this the service recommends jobs (docs/api/limits.md). */
const SYNC_CHARACTERS = 2_500;

interface ViaWishes {
  /** `--via`; default auto. */
  readonly via?: ViaName | undefined;
  /** `--cache`. */
  readonly cache?: true | undefined;
  /** The flag that asks for the times of words, if one does. */
  readonly captionFlag?: string | undefined;
  readonly chosen: ChosenSurface;
  readonly characters: number;
  readonly plan: OutputPlan;
}

/**
 * How the speech is asked for (`--via`): a long text that goes into a file is a job,
 * since its audio can be fetched again; the rest is one answer, which streams.
 * @throws Failure (usage) for a way that the other flags exclude
 */
function chooseVia(wishes: ViaWishes): Via {
  const { cache, captionFlag, characters, chosen, plan } = wishes;
  const { flag, name } = chosen;
  const via = captionFlag === undefined ? (wishes.via ?? 'auto') : alignedFor(captionFlag, wishes);
  const api = name === 'v3' || name === 'v1' ? name : undefined;
  switch (via) {
    case 'sync':
      return { kind: 'sync' };
    case 'aligned':
      if (name === 'v3') return { kind: 'aligned' };
      throw usageFailure(`--via aligned is not known to ${flag}`, 'v3 has aligned streams.');
    case 'job':
      if (api === undefined) {
        throw usageFailure(`--via job is not known to ${flag}`, 'v3 and v1 have jobs.');
      }
      if (cache === true) {
        throw usageFailure(
          '--cache stores the answer of a synchronous request, and --via job is none',
          'Leave one of them out; the audio of a job stays where it is anyway.',
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

/** Only the aligned stream of v3 tells when words are said. */
function alignedFor(captionFlag: string, { chosen: { flag, name }, via }: ViaWishes): 'aligned' {
  if (name !== 'v3') {
    throw usageFailure(
      `${captionFlag} is not known to ${flag}, which does not tell when words are said`,
      'Leave --api out: v3 does.',
    );
  }
  if (via === 'sync' || via === 'job') {
    throw usageFailure(
      `${captionFlag} needs the times of words, and --via ${via} does not tell them`,
      'Leave --via out, or use --via aligned.',
    );
  }
  return 'aligned';
}
