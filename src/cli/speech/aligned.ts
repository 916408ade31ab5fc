import { dirname } from 'node:path';
import { reviseFailure } from '../../api/failures.ts';
import type { AlignedOptions } from '../../api/resources/aligned.ts';
import { flagOf, openCaptionFiles } from '../../captions/caption-files.ts';
import { timingsOf } from '../../captions/timings.ts';
import { requireOutputSpace } from '../../durable/free-space.ts';
import type { Existing } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import type { AlignedSpeech } from '../../speech/aligned-way.ts';
import { alignedWay } from '../../speech/aligned-way.ts';
import type { SpeechWay } from '../../speech/speak.ts';
import { sweepTemporaries } from '../../speech/sweep-temporaries.ts';
import { counted } from '../../text/display.ts';
import type { Context } from '../command.ts';
import type { CaptionPlan } from './captions.ts';
import { speechOptions } from './order.ts';
import type { Task, SpeechTask, OpenCaptions, ToldCaptions } from './task.ts';

/**
 * Opens the files of captions, before anything is billed.
 * @throws Failure (output, exists, usage)
 */
export async function openCaptions(
  { shape, targets }: CaptionPlan,
  context: Context,
  existing: Existing,
  text: string,
): Promise<OpenCaptions> {
  const files = await openCaptionFiles({ ...context, targets, existing });
  const { state } = await context.paths();
  for (const target of targets) {
    await sweepTemporaries(dirname(target.path), { ...context, state });
    const bytes = BYTES_PER_CHARACTER * text.length;
    const place = { files: context.files, flag: flagOf(target) };
    await requireOutputSpace(target.path, bytes, place).catch(async (error: unknown) => {
      await files.abandon();
      throw error;
    });
  }
  let complete: boolean | undefined;
  return {
    get isPrepared() {
      return complete !== undefined;
    },
    async prepare(spoken, { durationMs, isComplete, words }) {
      const timings = timingsOf({ text: spoken, durationMs, complete: isComplete, words });
      await files.prepare({ timings, shape });
      complete = isComplete;
    },
    publish: async () => ({ items: await files.publish(), complete: complete === true }),
    abandon: () => files.abandon(),
  };
}

/** A word with its times, in the most that a caption file writes of it. */
const BYTES_PER_CHARACTER = 10;

/** How a text is asked for whose words are to be timed. */
export function alignedWayOf(task: Task, request: SpeechTask): SpeechWay {
  const { body, captions, connection } = request;
  const onAligned = async (speech: AlignedSpeech): Promise<void> =>
    captions?.prepare(body.text, speech);
  return alignedWay(connection.client, body, alignedOptions(task), onAligned);
}

/** Under which ids an aligned stream is asked for, and how long one that says nothing is waited for. */
export function alignedOptions(task: Task): AlignedOptions {
  const { cache: _, surface: __, ...options } = speechOptions(task);
  const { clock, globals } = task.context;
  return { ...options, clock, idleTimeoutMs: globals.idleTimeout };
}

/**
 * Gives captions their names and tells of them; the audio has its own by then.
 * @throws Failure (output, exists) that says where the audio is
 */
export async function publishCaptions(
  captions: OpenCaptions,
  audio: string | undefined,
  { io }: Context,
): Promise<ToldCaptions> {
  const told = await captions.publish().catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    const hint = audio === undefined ? error.hint : `The audio is whole, in ${audio}.`;
    throw reviseFailure(error, { hint, billed: 'yes' });
  });
  for (const { cues, path } of told.items) io.notice(`${path}: ${contentOf(cues)}`);
  if (!told.complete) io.warn(INCOMPLETE);
  return told;
}

function contentOf(cues: number | undefined): string {
  if (cues === undefined) return 'the times of the words';
  return counted(cues, 'cue');
}

const INCOMPLETE =
  'foley: the service did not time all of this text; in the captions, what it left out lies between its neighbours';

/** The captions in the document of `--json`, as `foley captions` tells of them. */
export function captionsDocument({ complete, items }: ToldCaptions): object {
  return {
    items: items.map(({ cues, format, path }) => ({ output: path, format, cues: cues ?? null })),
    complete,
  };
}
