import type { CommandInput } from '../../src/cli/command.ts';
import type { Context } from '../../src/cli/context.ts';
import type { SettingSources } from '../../src/config/settings.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { SIMPLE_INPUT_MAX_CHARACTERS } from '../../src/contract/realtime/limits.ts';
import type { RealtimeMode, RealtimeProtocol } from '../../src/contract/realtime/protocols.ts';
import { REALTIME_FORMATS } from '../../src/contract/realtime/protocols.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { OutputPlan } from '../../src/speech/output-plan.ts';
import { planOutputOf } from '../../src/speech/output-plan.ts';
import type { Player } from '../../src/speech/players.ts';
import { readText } from '../../src/speech/text-source.ts';
import { untilStopped } from '../../src/speech/until-stopped.ts';
import { countCodePoints } from '../../src/text/code-points.ts';
import { playerFor, refuseSharedStdin } from '../tts-task.ts';
import type { LiveFlags, LiveFormat } from './live-flags.ts';
import { LIVE_CONTROLS } from './live-flags.ts';

/** What is going to be spoken, and where it will go; nothing has been asked of the service yet. */
export interface LiveTask {
  readonly context: Context;
  readonly flags: LiveFlags;
  readonly settings: SettingSources;
  readonly protocol: RealtimeProtocol;
  readonly mode: RealtimeMode;
  readonly plan: OutputPlan<LiveFormat>;
  readonly player: Player | undefined;
  /** All of it; undefined when it comes through a pipe. */
  readonly text: string | undefined;
}

/**
 * Checks everything that can be checked before anything is sent; a pipe is not yet read.
 * @throws Failure (usage, config)
 */
export async function planLive(
  context: Context,
  { args, options: flags }: CommandInput<LiveFlags>,
): Promise<LiveTask> {
  const { globals, io } = context;
  const { protocol = 'v3' } = flags;
  refuseSharedStdin(args, flags.file, globals.apiKeyFile);
  refuseForeignControls(flags, protocol);
  const settings = await context.settings();
  const plan = planOutputOf(
    {
      output: flags.output,
      format: flags.format,
      configuredFormat: resolveSetting(settings, 'format')?.value,
      json: globals.json === true,
      play: flags.play === true || flags.player !== undefined,
      stdoutIsTerminal: io.stdoutIsTerminal,
    },
    { flag: 'foley live', formats: REALTIME_FORMATS },
  );
  if (plan.kind === 'stdout') io.requireStdout();
  const player = await playerFor(context, flags, plan);
  const text = await textInHand(context, args, flags.file);
  const mode = chooseMode(flags, text);
  return { context, flags, settings, protocol, mode, plan, player, text };
}

function refuseForeignControls(flags: LiveFlags, protocol: RealtimeProtocol): void {
  if (protocol === 'v2') return;
  const known: readonly string[] = LIVE_CONTROLS.v3;
  const given = [...LIVE_CONTROLS.v2, 'optimizeInstructions' as const].find(
    (name) => !known.includes(name) && flags[name] !== undefined,
  );
  if (given === undefined) return;
  const flag = `--${given.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw usageFailure(`v3 of realtime speech has no ${flag}`, `Leave it out, or add --protocol v2.`);
}

/** Text that is there is read and checked; what comes through a pipe is spoken while it comes. */
async function textInHand(
  { files, io, signal }: Context,
  args: readonly string[],
  file: string | undefined,
): Promise<string | undefined> {
  const { stdin, stdinIsTerminal } = io;
  const isPiped = args.length === 0 && (file === '-' || (file === undefined && !stdinIsTerminal()));
  if (isPiped) return undefined;
  return untilStopped(readText({ args, file, stdin, stdinIsTerminal, files, signal }), signal);
}

/** @throws Failure (usage) for what the mode cannot do */
function chooseMode(flags: LiveFlags, text: string | undefined): RealtimeMode {
  const isLong = text !== undefined && countCodePoints(text) > SIMPLE_INPUT_MAX_CHARACTERS;
  const mode = flags.mode ?? (text === undefined || isLong ? 'reliable' : 'simple');
  if (mode === 'reliable') {
    if (flags.retryFailed !== true || flags.requestId !== undefined) return mode;
    throw usageFailure(
      '--retry-failed does not say what failed',
      'Add --request-id with the id of that request.',
    );
  }
  if (isLong) {
    throw usageFailure(
      `the text has ${countCodePoints(text)} characters; the simple mode takes ${SIMPLE_INPUT_MAX_CHARACTERS}`,
      'Leave --mode simple out.',
    );
  }
  const given = RELIABLE_FLAGS.find(([name]) => flags[name] !== undefined);
  if (given === undefined) return mode;
  throw usageFailure(
    `${given[1]} means something only in the reliable mode`,
    'Add --mode reliable; a text that is given whole is spoken in the simple one.',
  );
}

const RELIABLE_FLAGS = [
  ['segmentBy', '--segment-by'],
  ['flushAfter', '--flush-after'],
  ['retryFailed', '--retry-failed'],
] as const;
