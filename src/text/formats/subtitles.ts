import type { SpokenText } from '../document.ts';
import { plainText } from '../document.ts';
import { DocumentError } from './document-error.ts';

/** A subtitle with its time. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** Text without tags; lines are separated by line breaks. */
  readonly text: string;
  /** Line of the time in the file, from 1. */
  readonly line: number;
}

/** Extracts the text of SubRip or WebVTT subtitles. @throws DocumentError naming the line */
export function readSubtitles(subtitles: string): SpokenText {
  const texts = parseCues(subtitles)
    .map(({ text }) => text.replaceAll(/(?:^|\n)[-–—]\s*/g, '\n').trim())
    .map((text) => text.replaceAll(/\s+/g, ' '));
  // Subtitles that roll up repeat their lines.
  const spoken = texts.filter((text, index) => text !== '' && text !== texts[index - 1]);
  return plainText(spoken.join(' '));
}

/** Parses SubRip or WebVTT. @throws DocumentError naming the line */
export function parseCues(subtitles: string): readonly Cue[] {
  const cues: Cue[] = [];
  const lines = subtitles.split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (!line.includes('-->')) {
      // A note or a style sheet lasts until the next empty line.
      if (!/^(?:NOTE|STYLE|REGION)\b/.test(line)) continue;
      while (at + 1 < lines.length && lines[at + 1] !== '') at += 1;
      continue;
    }
    const [from = '', to = ''] = line.split('-->');
    const [startMs, endMs] = [timeOf(from), timeOf(to.trim().split(/\s/)[0] ?? '')];
    if (startMs === undefined || endMs === undefined) {
      throw new DocumentError(`not a time of a subtitle: "${line.trim().slice(0, 60)}"`, {
        line: at + 1,
        hint: 'Use 00:00:01,000 --> 00:00:02,500.',
      });
    }
    const text: string[] = [];
    const number = at + 1;
    while (at + 1 < lines.length && (lines[at + 1] ?? '').trim() !== '') {
      at += 1;
      text.push(withoutTags(lines[at] ?? ''));
    }
    cues.push({ startMs, endMs, text: text.join('\n'), line: number });
  }
  if (cues.length === 0) {
    throw new DocumentError('not subtitles: no line has a time', {
      hint: 'Use SubRip (.srt) or WebVTT (.vtt).',
    });
  }
  return cues;
}

function timeOf(text: string): number | undefined {
  const match = /^(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3}))?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0', fraction = ''] = match;
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1_000 + Number(fraction.padEnd(3, '0'));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': ' ',
  '&lrm;': '',
  '&rlm;': '',
};

/** Removes `<i>`, `<v Ann>`, `<00:01.000>` and `{\an8}`, and decodes the entities of WebVTT. */
function withoutTags(line: string): string {
  return line
    .replaceAll(/<\/?[a-z\d][^<>]*>|\{\\[^{}]*\}/gi, '')
    .replaceAll(/&[a-z]+;/g, (entity) => ENTITIES[entity] ?? entity);
}
