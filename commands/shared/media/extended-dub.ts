import path from 'node:path';
import type { SpeechOrder } from '../../../src/api/resources/speech.ts';
import { pollPace, speechJobRequest } from '../../../src/api/resources/jobs.ts';
import type { SpeechJob } from '../../../src/api/resources/jobs.ts';
import { openOutput } from '../../../src/durable/publish.ts';
import { Failure, usageFailure } from '../../../src/errors/failure.ts';
import { reviseFailure } from '../../../src/api/failures.ts';
import type { MediaInput } from '../../../src/media/inputs.ts';
import { readMediaInput } from '../../../src/media/inputs.ts';
import type { SavedFile } from '../../../src/paid/job.ts';
import { speakAsJob } from '../../../src/paid/speakers/speech-job.ts';
import { WholeAudio } from '../../../src/paid/parts/whole-audio.ts';
import { quoted } from '../../../src/text/display.ts';
import type { ServiceConnection, Context } from '../../../src/cli/command.ts';
import { pollingAt } from '../flags/jobs.ts';
import type { MediaCreateFlags } from '../flags/media.ts';
import type { JobDocument } from '../jobs/format.ts';
import { jobDocument, resumeCommand, savedNotice, serviceFlags } from '../jobs/format.ts';
import { withJournal } from '../journal.ts';
import { startProgress } from '../../../src/cli/render/progress.ts';
import type { CommandResult, DryRunDocument } from '../../../src/cli/render/result.ts';
import { dryRunResult } from '../../../src/cli/render/result.ts';
import { createMedia } from './create-media.ts';
import { mediaPlace } from './format.ts';
import { checkInputs } from './input-addresses.ts';

/** A dubbing job whose speech is a job of its own. */
export interface ExtendedDubDocument extends JobDocument {
  readonly speech: JobDocument;
}

interface ExtendedDub {
  readonly video: MediaInput;
  /** Builds the request for the speech. @throws Failure of kind `usage` */
  readonly order: (connection: ServiceConnection) => Promise<SpeechOrder>;
}

/**
 * Dubs a video without cutting the video or the speech: speaks the text, adds silence until the video ends, and creates
 * a lip sync whose video repeats until the speech ends. The dubbing endpoint itself cuts the longer one
 * (docs/api/lip-sync.md#dubbing). The speech stays in a file beside the output.
 * @throws Failure of kind `usage` before anything is billed, if the video is not a file or there is no output file
 */
export async function createExtendedDub(
  context: Context,
  { order, video }: ExtendedDub,
  flags: MediaCreateFlags,
): Promise<CommandResult<ExtendedDubDocument | DryRunDocument>> {
  const { output } = flags;
  if (output === undefined || output === '-') {
    throw usageFailure('--extend requires -o FILE', 'The speech is saved beside the file.');
  }
  if (video.kind !== 'file') {
    throw usageFailure(
      `--extend requires a video file, but --video is ${video.given}`,
      'Download the video first: foley measures its length.',
    );
  }
  const connection = await context.connect();
  const wav = { ...(await order(connection)), format: 'wav' } as const;
  const options = speechOptions(context, flags);
  if (flags.dryRun === true) {
    return dryRunResult(
      connection.client.describe(speechJobRequest(connection.client, wav, options)),
    );
  }
  await checkInputs(context, [video], connection);
  const videoMs = await lengthOf(video.path);
  const place = await mediaPlace(context, 'lipsync', { clobber: flags.clobber, output });
  try {
    const { dir, name } = path.parse(output);
    const speechPath = path.join(dir, `${name}.speech.wav`);
    const { document, speechMs } = await speak(context, wav, { options, speechPath, flags });
    if (speechMs < videoMs) await addSilence(context, speechPath, videoMs - speechMs);
    const audio = await readMediaInput(speechPath, 'the speech', context);
    const task = {
      kind: 'lipsync',
      inputs: [video, audio],
      order: ([video_url, audio_url]: readonly string[]) => {
        const video_extension = speechMs > videoMs ? true : undefined;
        return Promise.resolve({ video_url, audio_url, video_extension });
      },
      place,
    } as const;
    const next = continueCommand(context, { output, speechPath, video: video.given });
    const { idempotencyKey: _key, requestId: _id, ...others } = flags;
    const { result } = await createMedia(context, task, others).catch((error: unknown) => {
      throw withContinuation(error, next);
    });
    return { ...result, data: { ...result.data, speech: document } };
  } finally {
    // Does nothing after the file was published.
    await place.abandon();
  }
}

function speechOptions({ system: { random }, signal }: Context, flags: MediaCreateFlags) {
  const { idempotencyKey, requestId } = flags;
  const madeByTool = idempotencyKey === undefined;
  const key = { value: idempotencyKey ?? random.uuid(), madeByTool };
  return { idempotencyKey: key, requestId, signal };
}

interface SpeechFile {
  readonly options: ReturnType<typeof speechOptions>;
  readonly speechPath: string;
  readonly flags: MediaCreateFlags;
}

async function speak(
  context: Context,
  order: SpeechOrder & { readonly format: 'wav' },
  { flags, options, speechPath }: SpeechFile,
): Promise<{ readonly document: JobDocument; readonly speechMs: number }> {
  const { clock } = context.system;
  const { globals, io } = context;
  const { client, target } = await context.connect();
  const output = await openOutput(context.system, { signal: context.signal, path: speechPath });
  const progress = startProgress(io, clock, 'speaking');
  try {
    const { failure, job, requestId, saved } = await withJournal(
      context,
      () => progress.stop(),
      (tools) =>
        speakAsJob({
          ...tools,
          client,
          order,
          options,
          place: { output },
          waits: true,
          polling: pollingAt<SpeechJob>(context, pollPace(client, 'v3', flags.pollInterval), flags),
          onCreated: async ({ id }) => io.notice(`foley: job ${id} was accepted`),
          resume: (id) => resumeCommand([id], { api: 'v3', output: speechPath }, globals),
        }),
    );
    if (failure !== undefined) throw failure;
    io.notice(savedNotice({ job, saved }));
    const document = jobDocument({ job, requestId, saved, text: order.text }, target);
    return { document, speechMs: lengthIn(saved) };
  } finally {
    await output.abandon();
  }
}

function lengthIn(saved: SavedFile | undefined): number {
  const length = saved?.verdict.durationMs;
  if (length === undefined) throw new Error('the speech has no length');
  return length;
}

async function addSilence(context: Context, file: string, ms: number): Promise<void> {
  const output = await openOutput(context.system, { signal: context.signal, path: file });
  try {
    const { files } = context.system;
    const whole = new WholeAudio({
      files,
      output,
      format: 'wav',
      stream: output,
      sampleRate: () => undefined,
    });
    await whole.add(file);
    whole.addSilence(ms);
    await whole.finish();
    await output.publish();
  } finally {
    // No effect after publication.
    await output.abandon();
  }
}

/** @throws Failure of kind `usage` if the file is not a readable video */
async function lengthOf(file: string): Promise<number> {
  const media = await import('mediabunny');
  const { FilePathSource, Input, MATROSKA, MP4, QTFF, WEBM } = media;
  const input = new Input({
    source: new FilePathSource(file),
    formats: [MP4, QTFF, MATROSKA, WEBM],
  });
  try {
    return (await input.computeDuration()) * 1_000;
  } catch {
    throw usageFailure(
      `foley cannot read the length of --video ${file}`,
      'Use an mp4, mov, mkv or webm file that is whole.',
    );
  } finally {
    input.dispose();
  }
}

function continueCommand(
  { globals }: Context,
  { output, speechPath, video }: Readonly<Record<'output' | 'speechPath' | 'video', string>>,
): string {
  const files = ['--video', quoted(video), '--audio', quoted(speechPath), '-o', quoted(output)];
  return ['foley lipsync create', ...files, '--extend', ...serviceFlags(globals)].join(' ');
}

function withContinuation(error: unknown, command: string): unknown {
  if (!(error instanceof Failure)) return error;
  const usual = error.hint === undefined ? '' : `${error.hint} `;
  return reviseFailure(error, {
    hint: `${usual}The speech was billed: \`${command}\` continues with it.`,
  });
}
