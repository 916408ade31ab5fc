import path from 'node:path';
import { reviseFailure } from '../../api/failures.ts';
import type { Format } from '../../audio/formats.ts';
import { Failure } from '../../errors/failure.ts';
import type { OutputPlan } from '../../speech/output-plan.ts';
import type { Playback, PlaybackOptions, Player } from '../../speech/play.ts';
import { startPlayback } from '../../speech/play.ts';
import type { AudioStream, SpeechWay } from '../../speech/speak.ts';
import { speak } from '../../speech/speak.ts';
import type { Context } from '../command.ts';
import { openJournal } from '../journal.ts';
import type { Progress } from '../render/progress.ts';
import { startProgress } from '../render/progress.ts';
import type { CommandResult } from '../render/result.ts';
import { checkPrice, rememberPrice } from './price.ts';
import { spokenNotice, spokenResult } from './summary.ts';
import type { Task, Via, SpeechTask, Delivered, JobWay } from './task.ts';
import { showWaveform } from './waveform.ts';

const MEBIBYTE = 1024 * 1024;

/** Speaks what was planned, plays it where that was asked for, and tells what it cost. */
export async function deliverSpeech(
  task: Task,
  request: SpeechTask,
  via: Via,
): Promise<CommandResult> {
  const { context, player, plan } = task;
  await checkPrice(task, request);
  const progress = startProgress(context.io, context.clock, 'speaking');
  // Into a file first and played then, or played while it arrives.
  const playback =
    player === undefined || request.output !== undefined
      ? undefined
      : await startPlayback(player, playbackOptions(context));
  try {
    const stream = streamOf(context, plan, playback);
    const { isPartial, parts, spoken, tellsIgnored } = await speakBy(task, request, {
      progress,
      stream,
      via,
    });
    progress.stop();
    context.io.notice(spokenNotice(spoken));
    const told = await publishedCaptions(request, spoken.path, context);
    if (spoken.path !== undefined) await presentFile(task, spoken.path);
    const { target } = request.connection;
    const result = spokenResult(
      spoken,
      request.body,
      { parts, target, tellsIgnored },
      told?.document,
    );
    return isPartial || told?.complete === false ? { ...result, exit: 'partial' } : result;
  } finally {
    progress.stop();
    playback?.stop();
  }
}

/** What a person wants of the file once it is there: to see it, and to hear it. */
async function presentFile({ context, flags, player }: Task, file: string): Promise<void> {
  if (flags.waveform === true) await showWaveform(file, context);
  if (player !== undefined) await playFile(player, file, context);
}

interface Way {
  readonly progress: Progress;
  readonly stream: AudioStream;
  readonly via: Via;
}

async function publishedCaptions(
  { captions }: SpeechTask,
  audio: string | undefined,
  context: Context,
): Promise<{ readonly complete: boolean; readonly document: object } | undefined> {
  if (captions === undefined) return undefined;
  const { captionsDocument, publishCaptions } = await import('./aligned.ts');
  const told = await publishCaptions(captions, audio, context);
  return { complete: told.complete, document: captionsDocument(told) };
}

async function speakBy(task: Task, request: SpeechTask, way: Way): Promise<Delivered> {
  const { parts } = request;
  if (parts !== undefined) {
    const { speakInParts } = await import('./long-text.ts');
    return priced(task, request, await speakInParts(task, request, { ...way, parts }));
  }
  const { progress, stream, via } = way;
  if (via.kind === 'job') {
    const job = { stream, api: via.api, progress };
    return priced(task, request, await speakJob(task, request, job));
  }
  if (via.kind === 'sync') return speakStream(task, request, stream);
  const { alignedWayOf } = await import('./aligned.ts');
  return speakStream(task, request, stream, alignedWayOf(task, request));
}

async function priced(task: Task, request: SpeechTask, delivered: Delivered): Promise<Delivered> {
  await rememberPrice(task, request, delivered.spoken.answer);
  return delivered;
}

async function speakStream(
  task: Task,
  request: SpeechTask,
  stream: AudioStream,
  way?: SpeechWay,
): Promise<Delivered> {
  const { context, plan } = task;
  const { body, connection, output, speech } = request;
  const { state } = await context.paths();
  const { journal } = await openJournal(context);
  try {
    const spoken = await speak({
      client: connection.client,
      body,
      speech,
      way,
      plan,
      output,
      stream,
      journal,
      spool: async () => {
        const { createSpool } = await import('../../durable/spool.ts');
        return createSpool({ ...context, folder: path.join(state, 'spool') });
      },
      notice: (line) => context.io.notice(line),
    });
    // Neither waits for the other; closed once more, a journal stays as it is.
    await Promise.all([journal.close(), rememberPrice(task, request, spoken.answer)]);
    const { tellsIgnored } = task.chosen.surface;
    return { spoken, parts: 1, tellsIgnored, isPartial: false };
  } finally {
    await journal.close();
  }
}

async function speakJob(task: Task, request: SpeechTask, by: JobWay): Promise<Delivered> {
  const { speakThroughJob } = await import('./job.ts');
  return speakThroughJob(task, request, by);
}

/** Where audio goes that goes into no file: stdout, a player, or both. */
export function streamOf(
  { io }: Context,
  { kind }: OutputPlan<Format>,
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

/** How a command starts a player. */
export function playbackOptions({ clock, io }: Context): PlaybackOptions {
  return { clock, notice: (sentence) => io.notice(sentence) };
}

/**
 * Plays a file that is there.
 * @throws Failure (output), which names the file
 */
export async function playFile(player: Player, file: string, context: Context): Promise<void> {
  const playback = await startPlayback(player, playbackOptions(context));
  const stop = (): void => playback.stop();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    const handle = await context.files.open(file, 'r');
    for await (const chunk of handle.createReadStream()) await playback.write(chunk);
    await playback.end();
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    throw reviseFailure(error, { hint: `The audio is in ${file}. ${error.hint ?? ''}`.trimEnd() });
  } finally {
    context.signal.removeEventListener('abort', stop);
  }
}
