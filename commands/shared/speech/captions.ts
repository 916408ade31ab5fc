import path from 'node:path';
import { reviseFailure } from '../../../src/api/failures.ts';
import type { SpeechOptions } from '../../../src/api/resources/speech.ts';
import { isAssStyle } from '../../../src/captions/ass-style.ts';
import type { CaptionFileDocument, CaptionTarget } from '../../../src/captions/caption-files.ts';
import { captionFileDocument, openCaptionFiles } from '../../../src/captions/caption-files.ts';
import {
  CAPTION_FORMATS,
  CUE_PRESETS,
  DEFAULT_GAPS,
  flagOf,
} from '../../../src/captions/cue-shape.ts';
import type { CueShape } from '../../../src/captions/cue-shape.ts';
import { timingsOf } from '../../../src/captions/timings.ts';
import { warnOfViolations } from '../../../src/captions/violations.ts';
import { writtenWords } from '../../../src/captions/written-words.ts';
import { requireOutputSpace } from '../../../src/durable/free-space.ts';
import type { Existing } from '../../../src/durable/output.ts';
import { Failure } from '../../../src/errors/failure.ts';
import { alignedStreamTransport } from '../../../src/paid/speakers/aligned-transport.ts';
import type { SpeechTransport } from '../../../src/paid/speakers/speak-stream.ts';
import { sweepTemporaries } from '../../../src/paid/sweep-temporaries.ts';
import { counted } from '../../../src/text/display.ts';
import type { Edit, SpokenText } from '../../../src/text/document.ts';
import { withWritten, writtenEdits } from '../../../src/text/document.ts';
import type { Context } from '../../../src/cli/command.ts';
import type { CaptionPlan } from '../flags/captions.ts';
import type { OpenCaptions, PublishedCaptions, OpenedSpeech, SpeechTask } from './plan.ts';

/**
 * Opens the caption files before anything is billed.
 * @param options `text`: the spoken text; `edits`: the edits that turn `text` back into the words of the document
 * @throws Failure if a file cannot be opened or the disk has too little free space
 */
export async function openCaptions(
  { shape, targets }: CaptionPlan,
  context: Context,
  existing: Existing,
  { edits, text }: { readonly text: string; readonly edits: readonly Edit[] },
): Promise<OpenCaptions> {
  const files = await openCaptionFiles({
    system: context.system,
    signal: context.signal,
    targets,
    existing,
  });
  const { state } = await context.paths();
  for (const target of targets) {
    await sweepTemporaries(context.system, path.dirname(target.path), state);
    const bytes = MAX_CAPTION_BYTES_PER_CHARACTER * text.length;
    const place = { files: context.system.files, flag: flagOf(target) };
    await requireOutputSpace(target.path, bytes, place).catch(async (error: unknown) => {
      await files.abandon();
      throw error;
    });
  }
  let complete = false;
  return {
    async prepare(spoken, { durationMs, isComplete, words }) {
      const document = withWritten(spoken, edits);
      const timings = timingsOf({
        text: document.written,
        durationMs,
        complete: isComplete,
        words: writtenWords(document, words),
      });
      await files.prepare({ timings, shape });
      complete = isComplete;
    },
    publish: async () => ({ items: await files.publish(), complete }),
    abandon: () => files.abandon(),
  };
}

const MAX_CAPTION_BYTES_PER_CHARACTER = 20;

/**
 * Returns a transport that requests speech with word times. The transport also writes the captions to temporary files.
 */
export function alignedTransport(
  {
    context: {
      system: { clock },
      globals,
    },
  }: SpeechTask,
  { body, captions, connection }: OpenedSpeech,
  speech: SpeechOptions,
): SpeechTransport {
  const { cache: _, surface: __, ...ids } = speech;
  const options = { ...ids, clock, idleTimeoutMs: globals.idleTimeout };
  return alignedStreamTransport(connection.client, body, options, async (timed) =>
    captions?.prepare(body.text, timed),
  );
}

/**
 * Renames the caption files to their final names, and prints a notice for each. Called when the audio file already has
 * its final name.
 * @throws Failure if a caption file cannot be renamed; its hint names the audio file
 */
export async function publishCaptions(
  captions: OpenCaptions,
  audio: string | undefined,
  { io }: Context,
): Promise<PublishedCaptions> {
  const published = await captions.publish().catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    const hint =
      audio === undefined
        ? error.hint
        : `The audio is complete, in ${audio}; \`foley align\` can make its captions again.`;
    throw reviseFailure(error, { hint, billed: 'yes' });
  });
  for (const { cues, path: file } of published.items) {
    io.notice(`${file}: ${cues === undefined ? 'word times' : counted(cues, 'cue')}`);
  }
  warnOfViolations(published.items, (sentence) => io.warn(sentence));
  if (!published.complete) io.warn(INCOMPLETE);
  return published;
}

const INCOMPLETE =
  'foley: the service did not time all of this text; in the captions, untimed words share the time between their neighbours; on the embedded service, `foley engine add espeak-ng` helps to time voices of other languages than English';

/** The part of the `--json` output that describes the caption files. */
export interface CaptionsDocument {
  readonly items: readonly CaptionFileDocument[];
  /** Whether every word has a time. */
  readonly complete: boolean;
}

/** Returns the part of the `--json` output that describes the caption files. */
export function captionsDocument({ complete, items }: PublishedCaptions): CaptionsDocument {
  return { items: items.map(captionFileDocument), complete };
}

/** Returns the edits that turn the spoken text back into the words of the document. */
export function editsOf(spoken: SpokenText | undefined): readonly Edit[] {
  return spoken === undefined ? [] : writtenEdits(spoken);
}

interface CaptionsRecord extends CaptionPlan {
  readonly edits: readonly Edit[];
}

/** Converts a caption plan to JSON with absolute paths. foley stores this JSON with the progress of a long text. */
export function captionsRecord(
  captions: CaptionPlan | undefined,
  cwd: string,
  spoken: SpokenText | undefined,
): unknown {
  if (captions === undefined) return undefined;
  const targets = captions.targets.map((target) => {
    return { ...target, path: path.resolve(cwd, target.path) };
  });
  const edits = editsOf(spoken);
  return { ...captions, targets, ...(edits.length === 0 ? {} : { edits }) };
}

/** Parses the JSON that {@link captionsRecord} returns. If it is invalid, returns undefined. */
export function parseCaptionsRecord(value: unknown): CaptionsRecord | undefined {
  const { edits = [], shape: recorded, targets } = fieldsOf(value);
  // Records of earlier versions lack these limits.
  const shape = { maxCps: CUE_PRESETS.netflix.maxCps, ...DEFAULT_GAPS, ...fieldsOf(recorded) };
  if (!Array.isArray(targets) || !targets.every((one) => isTarget(one))) return undefined;
  if (!Array.isArray(edits) || !edits.every((one) => isEdit(one))) return undefined;
  return isShape(shape) ? { targets, shape, edits } : undefined;
}

function isTarget(value: unknown): value is CaptionTarget {
  const { assStyle, format, path: file } = fieldsOf(value);
  const isFormat = CAPTION_FORMATS.some((one) => one === format);
  return typeof file === 'string' && isFormat && isAssStyle(assStyle);
}

function isEdit(value: unknown): value is Edit {
  const { end, insert, start } = fieldsOf(value);
  return typeof start === 'number' && typeof end === 'number' && typeof insert === 'string';
}

function isShape(value: unknown): value is CueShape {
  const fields = fieldsOf(value);
  const limits = Object.keys(CUE_PRESETS.netflix);
  const areCounts = limits.every((name) => typeof fields[name] === 'number');
  const { by } = fields;
  return areCounts && (by === 'phrase' || by === 'sentence' || by === 'word');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
