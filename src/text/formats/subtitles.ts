import type { SpokenText } from '../document.ts';
import { plainText } from '../document.ts';
import { DocumentError } from './document-error.ts';

/** A subtitle with its start and end time. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** Text without tags; lines are separated by line breaks. */
  readonly text: string;
  /** The speaker that WebVTT's `<v NAME>` names. */
  readonly speaker?: string;
  /** Number of the line that contains the cue's times, from 1. */
  readonly line: number;
}

/**
 * Extracts the text of SubRip or WebVTT subtitles.
 * @throws DocumentError that names the line
 */
export function readSubtitles(subtitles: string): SpokenText {
  const texts = parseCues(subtitles)
    .map(({ text }) => text.replaceAll(/(?:^|\n)[-–—]\s*/g, '\n').trim())
    .map((text) => text.replaceAll(/\s+/g, ' '));
  // Subtitles that roll up repeat their lines.
  const spoken = texts.filter((text, index) => text !== '' && text !== texts[index - 1]);
  return plainText(spoken.join(' '));
}

/**
 * Parses SubRip or WebVTT into cues.
 * @throws DocumentError that names the line
 */
export function parseCues(subtitles: string): readonly Cue[] {
  const cues: Cue[] = [];
  const lines = subtitles.split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (!line.includes('-->') && !BAD_ARROW.test(line)) {
      // A note or a style sheet lasts until the next empty line.
      if (!/^(?:NOTE|STYLE|REGION)\b/.test(line)) continue;
      while (at + 1 < lines.length && lines[at + 1] !== '') at += 1;
      continue;
    }
    const [from = '', to = ''] = line.split('-->');
    const [startMs, endMs] = [clockMs(from), clockMs(to.trim().split(/\s/)[0] ?? '')];
    if (startMs === undefined || endMs === undefined) {
      throw new DocumentError(`not a time of a subtitle: "${line.trim().slice(0, 60)}"`, {
        line: at + 1,
        hint: 'Use 00:00:01,000 --> 00:00:02,500.',
      });
    }
    const rows: string[] = [];
    const number = at + 1;
    while (at + 1 < lines.length && (lines[at + 1] ?? '').trim() !== '') {
      at += 1;
      rows.push(lines[at] ?? '');
    }
    const text = rows.map((row) => withoutTags(row)).join('\n');
    const [, speaker] = VOICE.exec(rows[0] ?? '') ?? [];
    const named = speaker === undefined ? {} : { speaker: withoutTags(speaker).trim() };
    cues.push({ startMs, endMs, text, line: number, ...named });
  }
  if (cues.length === 0) {
    throw new DocumentError('not subtitles: no line has a time', {
      hint: 'Use SubRip (.srt) or WebVTT (.vtt).',
    });
  }
  return cues;
}

// A cue whose times have another arrow, such as `00:00:01,000 -> 00:00:02,500`, must not be lost.
const BAD_ARROW = /^\s*[\d:]+:\d+[,.]\d+\s*[^\s\d]{1,4}\s*\d+:\d/;
const VOICE = /^\s*<v(?:\.[^\s>]*)?\s+([^>]+)>/;

/** Parses a time such as `00:01:02,500` or `1:02.5`. Returns milliseconds, or undefined if the text is not a time. */
export function clockMs(text: string): number | undefined {
  const match = /^(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d)(?:[,.](\d{1,3}))?$/.exec(text.trim());
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

// For example, removes `<i>`, `<v Ann>`, `<00:01.000>` and `{\an8}`.
function withoutTags(line: string): string {
  return line
    .replaceAll(/<\/?[a-z\d][^<>]*>|\{\\[^{}]*\}/gi, '')
    .replaceAll(/&[a-z]+;/g, (entity) => ENTITIES[entity] ?? entity);
}
