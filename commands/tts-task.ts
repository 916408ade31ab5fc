import type { ApiClient } from '../src/api/client.ts';
import type { Format } from '../src/audio/formats.ts';
import type { RequestSpec } from '../src/api/request.ts';
import type { SpeechOrder } from '../src/api/speech-order.ts';
import { speechRequest } from '../src/api/speech.ts';
import type { CommandInput } from '../src/cli/command.ts';
import type { Context } from '../src/cli/context.ts';
import type { CommandResult } from '../src/cli/result.ts';
import type { SettingSources } from '../src/config/settings.ts';
import { resolveSetting } from '../src/config/settings.ts';
import { usageFailure } from '../src/errors/failure.ts';
import type { Output } from '../src/files/output.ts';
import { openPlanned } from '../src/speech/open-planned.ts';
import type { OutputPlan, OutputSurface } from '../src/speech/output-plan.ts';
import { planOutput } from '../src/speech/output-plan.ts';
import type { Player } from '../src/speech/players.ts';
import { readText } from '../src/speech/text-source.ts';
import { untilStopped } from '../src/speech/until-stopped.ts';
import { countCodePoints } from '../src/text/code-points.ts';
import { deliverSpeech } from './tts-delivery.ts';
import { jobOptions, speechOptions, speechOrder } from './tts-order.ts';
import type { SplitName } from './tts-split.ts';
import { checkLength, splitOrder } from './tts-split.ts';
import type { OpenCaptions } from './tts-aligned.ts';
import type { CaptionFlags, CaptionPlan } from './tts-captions.ts';
import { captionFlag, planCaptions } from './tts-captions.ts';
import type { ChosenSurface, SurfaceFlags } from './tts-surface.ts';
import { chooseModel, chooseSurface } from './tts-surface.ts';
import type { Via, ViaName } from './tts-via.ts';
import { chooseVia } from './tts-via.ts';
import { checkWaveform } from './tts-waveform.ts';
import { dryRunParts, dryRunResult } from './tts-words.ts';

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
    captions: captionFlag(flags) !== undefined,
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
  const via = chooseVia({ ...flags, captionFlag: captionFlag(flags), chosen, characters, plan });
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
    import('../src/speech/players.ts'),
    import('../src/speech/installed-programs.ts'),
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
  const { partRequests } = await import('./tts-long.ts');
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
    const { alignedRequest } = await import('../src/api/aligned/aligned-speech.ts');
    return alignedRequest(client, body, speechOptions(task));
  }
  const { speechJobRequest } = await import('../src/api/speech-jobs.ts');
  return speechJobRequest(client, body, jobOptions(task, via.api));
}

/** Opens the output, then asks the service, and delivers. */
export async function speakTask(task: Task): Promise<CommandResult> {
  const { context, flags, plan, text } = task;
  const { signal } = context;
  const { state } = await context.paths();
  const output = await untilStopped(
    openPlanned(plan, { ...context, text, noClobber: !flags.clobber, state }),
    signal,
    (opened) => void opened?.abandon(),
  );
  let captions: OpenCaptions | undefined;
  try {
    captions = await untilStopped(captionsFor(task), signal, (late) => void late?.abandon());
    const connection = await untilStopped(context.connect(), signal);
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
  const { openCaptions } = await import('./tts-aligned.ts');
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
