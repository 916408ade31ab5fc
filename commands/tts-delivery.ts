import path from 'node:path';
import { reviseFailure } from '../src/api/revise-failure.ts';
import type { SpeechOptions } from '../src/api/speech.ts';
import type { Context } from '../src/cli/context.ts';
import { startProgress } from '../src/cli/progress.ts';
import type { CommandResult } from '../src/cli/result.ts';
import { systemProcesses } from '../src/effects/processes.ts';
import { Failure } from '../src/errors/failure.ts';
import { createIntentJournal } from '../src/files/intents.ts';
import type { Output } from '../src/files/output.ts';
import type { OutputPlan } from '../src/speech/output-plan.ts';
import type { Playback } from '../src/speech/play.ts';
import { startPlayback } from '../src/speech/play.ts';
import type { Player } from '../src/speech/players.ts';
import type { AudioStream, Spoken } from '../src/speech/speak.ts';
import { speak } from '../src/speech/speak.ts';
import type { Task } from './tts-task.ts';
import type { PricedRequest } from './tts-price.ts';
import { checkPrice, rememberPrice } from './tts-price.ts';
import { spokenNotice, spokenResult } from './tts-words.ts';

interface Request extends PricedRequest {
  readonly output: Output | undefined;
  readonly speech: SpeechOptions;
}

const MEBIBYTE = 1024 * 1024;

/** Speaks what was planned, plays it where that was asked for, and tells what it cost. */
export async function deliverSpeech(task: Task, request: Request): Promise<CommandResult> {
  const { context, player, plan } = task;
  await checkPrice(task, request);
  const progress = startProgress(context.io, context.clock, 'speaking');
  // Into a file first and played then, or played while it arrives.
  const playback =
    player === undefined || request.output !== undefined ? undefined : await startPlayback(player);
  try {
    const spoken = await speakInto(task, request, streamOf(context, plan, playback));
    progress.stop();
    context.io.notice(spokenNotice(spoken));
    await rememberPrice(task, request, spoken);
    if (player !== undefined && spoken.path !== undefined) {
      await playFile(player, spoken.path, context);
    }
    const { target } = request.connection;
    const { tellsIgnored } = task.chosen.surface;
    return spokenResult(spoken, request.body, { target, tellsIgnored });
  } finally {
    progress.stop();
    playback?.stop();
  }
}

async function speakInto(task: Task, request: Request, stream: AudioStream): Promise<Spoken> {
  const { context, plan } = task;
  const { body, connection, output, speech } = request;
  const { state } = await context.paths();
  const journal = createIntentJournal({
    ...context,
    folder: path.join(state, 'journal'),
    processes: systemProcesses(),
  });
  try {
    return await speak({
      client: connection.client,
      body,
      speech,
      plan,
      output,
      stream,
      journal,
      spool: async () => {
        const { createSpool } = await import('../src/files/spool.ts');
        return createSpool({ ...context, folder: path.join(state, 'spool') });
      },
      notice: (line) => context.io.notice(line),
    });
  } finally {
    await journal.close();
  }
}

function streamOf(
  { io }: Context,
  { kind }: OutputPlan,
  playback: Playback | undefined,
): AudioStream {
  const toStdout = kind === 'stdout';
  return {
    // A player alone takes little of its own: all of it is remembered until it was heard.
    memoryBytes: (toStdout ? 8 : 32) * MEBIBYTE,
    async write(chunk) {
      if (toStdout) await io.writeOut(chunk);
      await playback?.write(chunk);
    },
    end: async () => playback?.end(),
  };
}

async function playFile(player: Player, file: string, context: Context): Promise<void> {
  const playback = await startPlayback(player);
  const stop = (): void => playback.stop();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    const handle = await context.files.open(file, 'r');
    for await (const chunk of handle.createReadStream()) await playback.write(chunk);
    await playback.end();
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    throw reviseFailure(error, { hint: `The audio is in ${file}.` });
  } finally {
    context.signal.removeEventListener('abort', stop);
  }
}
