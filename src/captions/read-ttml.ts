import { DocumentError } from '../text/formats/document-error.ts';
import { readXml } from '../text/formats/xml.ts';
import type { Cue } from './cue-shape.ts';
import type { TimedPiece } from './timed-line.ts';
import { timedLines } from './timed-line.ts';

/**
 * Parses the paragraphs of a TTML file (W3C), with the times of nested spans. Times are clock times, frames, ticks and
 * offsets with a unit.
 * @throws DocumentError that names the line
 */
export function parseTtml(content: string): readonly Cue[] {
  const cues: Cue[] = [];
  const agents = new Map<string, string>();
  const open: OpenElement[] = [];
  let rates: Rates = { frames: 30, ticks: 1 };
  let paragraph: Paragraph | undefined;
  readXml(content, {
    open(qualified, attributes, line) {
      const name = localName(qualified);
      const given = new Map(
        Object.entries(attributes).map(([key, value]) => [localName(key), value]),
      );
      if (name === 'tt') rates = ratesOf(given);
      const parent = open.at(-1) ?? {
        id: '',
        name: '',
        isShown: true,
        startMs: 0,
        endMs: Infinity,
      };
      const time = (key: string): number | undefined => {
        const value = given.get(key);
        return value === undefined ? undefined : timeMs(value, rates, line);
      };
      const startMs = parent.startMs + (time('begin') ?? 0);
      const [end, duration] = [time('end'), time('dur')];
      const endMs = Math.min(
        parent.endMs,
        end === undefined ? Infinity : parent.startMs + end,
        duration === undefined ? Infinity : startMs + duration,
      );
      // The pronunciations of ruby text are above the words, not beside them.
      const isRuby = /^(?:text|textContainer|delimiter)$/.test(given.get('ruby') ?? '');
      const isShown = parent.isShown && !isRuby && name !== 'metadata';
      open.push({ id: given.get('id') ?? '', name, isShown, startMs, endMs });
      if (name === 'p') {
        paragraph = { agent: given.get('agent'), startMs, endMs, lines: [[]], source: line };
      } else if (name === 'br') paragraph?.lines.push([]);
    },
    text(text) {
      const element = open.at(-1);
      if (element === undefined) return;
      if (element.name === 'name') {
        const agent = open.findLast(({ name }) => name === 'agent')?.id ?? '';
        agents.set(agent, (agents.get(agent) ?? '') + text);
      }
      // Line breaks of the source are spaces.
      else if (element.isShown) {
        const { startMs } = element;
        paragraph?.lines.at(-1)?.push({ text: text.replaceAll(/\s+/g, ' '), startMs });
      }
    },
    close() {
      const element = open.pop();
      if (element?.name !== 'p' || paragraph === undefined) return;
      cues.push(...cueOf(paragraph, agents));
      paragraph = undefined;
    },
  });
  return cues;
}

interface OpenElement {
  readonly id: string;
  readonly name: string;
  readonly isShown: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

interface Paragraph {
  readonly agent: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly lines: TimedPiece[][];
  /** Line number in the file, from 1. */
  readonly source: number;
}

function cueOf(
  { agent, endMs, lines, source, startMs }: Paragraph,
  agents: ReadonlyMap<string, string>,
): readonly Cue[] {
  const words = timedLines(lines);
  if (words.length === 0) return [];
  if (endMs === Infinity) {
    throw new DocumentError('a paragraph has no end', {
      line: source,
      hint: 'Add end or dur to it.',
    });
  }
  const speaker = agents.get(agent ?? '')?.trim();
  return [{ startMs, endMs, lines: words, ...(speaker === undefined ? {} : { speaker }) }];
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

interface Rates {
  /** Frames a second. */
  readonly frames: number;
  /** Ticks a second. */
  readonly ticks: number;
}

function ratesOf(given: ReadonlyMap<string, string>): Rates {
  const [numerator = 1, denominator = 1] = (given.get('frameRateMultiplier') ?? '1 1')
    .split(/[\s:]+/)
    .map(Number);
  const frameRate = given.get('frameRate');
  const frames = (Number(frameRate ?? 30) * numerator) / denominator;
  return { frames, ticks: Number(given.get('tickRate') ?? (frameRate === undefined ? 1 : frames)) };
}

const CLOCK = /^(\d{2,9}):([0-5]\d):([0-5]\d)(?:\.(\d{1,9})|:(\d{2,9}))?$/;
const OFFSET = /^(\d{1,12}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$/;

function timeMs(text: string, { frames, ticks }: Rates, line: number): number {
  const clock = CLOCK.exec(text.trim());
  if (clock !== null) {
    const [, hours, minutes, seconds, fraction = '0', frame = '0'] = clock;
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return Math.round((whole + Number(`0.${fraction}`) + Number(frame) / frames) * 1_000);
  }
  const [, value, unit] = OFFSET.exec(text.trim()) ?? [];
  if (unit === undefined) {
    throw new DocumentError(`not a time: "${text.slice(0, 60)}"`, {
      line,
      hint: 'Use 00:00:01.500 or 1.5s.',
    });
  }
  const units: Readonly<Record<string, number>> = {
    h: 3_600_000,
    m: 60_000,
    s: 1_000,
    ms: 1,
    f: 1_000 / frames,
    t: 1_000 / ticks,
  };
  return Math.round(Number(value) * (units[unit] ?? 1));
}
