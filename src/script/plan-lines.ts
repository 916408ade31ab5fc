import type { BatchItem } from '../batch/plan/plan.ts';
import { sha256 } from '../durable/checksum.ts';
import type { SpeechControls } from '../contract/speech.ts';
import { pronunciationsOf } from '../speech/pronunciations.ts';
import { countCodePoints } from '../text/code-points.ts';
import { plainText } from '../text/document.ts';
import type { Lexicon } from '../text/lexicon.ts';
import type { Cast } from './cast.ts';
import type { ScriptLine } from './script.ts';
import { describePlace } from './script.ts';

const LINES_FOLDER = 'lines';

export interface LinePlanOptions {
  readonly cast: Cast;
  /** Returns the id of a voice that is given by its id or its exact name. */
  readonly voiceIdOf: (voice: string) => string;
  readonly modelId: string | undefined;
  /** Default speech controls, used where neither the line nor its cast member sets a control. */
  readonly controls: SpeechControls;
  readonly lexicon: Lexicon | undefined;
  readonly gapMs: number;
  readonly chapterGapMs: number;
}

/**
 * A text of a script line, with its speech request. A line that has pauses, or is too long for one request, has several
 * texts.
 */
export interface PlannedText {
  readonly line: ScriptLine;
  /** Display name of the speaker. */
  readonly speaker: string;
  /** The speech request for the text. Texts with the same words, voice, model and speech controls share one request. */
  readonly item: BatchItem;
  readonly startMs?: number;
  readonly endMs?: number;
  readonly pauseAfterMs: number;
  readonly chapter?: string;
}

/** Plans the speech requests of a script and the silences between the lines. */
export function planLines(
  lines: readonly ScriptLine[],
  options: LinePlanOptions,
): readonly PlannedText[] {
  const items = new Map<string, BatchItem>();
  const [first] = lines;
  // A recording of some lines only begins with its first line.
  const earliestMs = first?.number === 1 ? 0 : (first?.startMs ?? 0);
  return lines.flatMap((line, index) => {
    const speaker = options.cast.shownName(line);
    const { chapter, endMs, startMs = leadIn(line, index), texts } = line;
    const isLast = (at: number): boolean => at === texts.length - 1;
    return texts.map((_text, at): PlannedText => {
      const planned = itemOf(line, at, options);
      const item = items.get(planned.output) ?? { ...planned, index: items.size + 1 };
      items.set(planned.output, item);
      const silence = line.silences[at + 1] ?? 0;
      return {
        line,
        speaker,
        item,
        pauseAfterMs: isLast(at) ? pauseAfter(line, lines[index + 1], options) : silence,
        ...(at > 0 || startMs === undefined ? {} : { startMs: startMs - earliestMs }),
        ...(at > 0 || !isLast(at) || endMs === undefined ? {} : { endMs: endMs - earliestMs }),
        ...(at > 0 || chapter === undefined ? {} : { chapter }),
      };
    });
  });
}

function leadIn({ silences }: ScriptLine, index: number): number | undefined {
  // A pause in front of the first line delays the beginning of the speech.
  const [silence = 0] = silences;
  return index === 0 && silence > 0 ? silence : undefined;
}

function pauseAfter(
  { pauseAfterMs, silences }: ScriptLine,
  next: ScriptLine | undefined,
  { chapterGapMs, gapMs }: LinePlanOptions,
): number {
  // Pauses in the script replace the gap between lines. The last line has no gap.
  const own = (silences.at(-1) ?? 0) + (next?.silences[0] ?? 0);
  const gap = next?.chapter === undefined ? gapMs : chapterGapMs;
  return own + (pauseAfterMs ?? (own > 0 || next === undefined ? 0 : gap));
}

function itemOf(line: ScriptLine, at: number, options: LinePlanOptions): BatchItem {
  const { cast, lexicon, voiceIdOf } = options;
  const member = cast.memberFor(line);
  const source = plainText(line.texts[at] ?? '');
  const spoken = lexicon?.apply(source) ?? source;
  const modelId = line.modelId ?? member?.modelId ?? options.modelId;
  const controls = { ...options.controls, ...member?.controls, ...line.controls };
  const order = {
    text: spoken.text,
    voiceId: voiceIdOf(line.voiceId ?? member?.voice ?? ''),
    ...(modelId === undefined ? {} : { modelId }),
    format: 'wav' as const,
    // In a fixed order, so that the same request has the same digest.
    ...Object.fromEntries(Object.entries(controls).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    ...pronunciationsOf(spoken),
  };
  const id = line.id ?? String(line.number);
  return {
    index: 0,
    id: at === 0 ? id : `${id}.${at + 1}`,
    source: describePlace(line.place),
    // A name that does not depend on the line's number: an inserted line moves no file.
    output: `${LINES_FOLDER}/${sha256(JSON.stringify(order)).slice(0, 32)}.wav`,
    order,
    spoken,
    characters: countCodePoints(spoken.text),
    usesDefaultVoice: false,
  };
}

/** Returns the speech requests of a plan. A request that several texts share is returned once. */
export function itemsOf(plan: readonly PlannedText[]): readonly BatchItem[] {
  return [...new Set(plan.map(({ item }) => item))];
}
