import { decodeHTML, decodeHTMLStrict } from 'entities';
import { clockMs } from './clock.ts';

/** A line of a subtitle file. */
export interface SourceRow {
  readonly text: string;
  /** Line number in the file, from 1. */
  readonly line: number;
}

/** A row of a cue's text, as viewers see it. */
export interface CueRow {
  readonly line: number;
  readonly spans: readonly CueSpan[];
}

export interface CueSpan {
  readonly text: string;
  /** The speaker that WebVTT's `<v NAME>` names. */
  readonly speaker?: string;
  /** When the text is spoken, in milliseconds, if a time such as WebVTT's `<00:01.000>` precedes it. */
  readonly startMs?: number;
}

/**
 * Removes the tags of a cue's text and decodes its character references. Leaves out rows without text, and the
 * pronunciations that `<rt>` shows above a word.
 */
export function readCueText(rows: readonly SourceRow[], isWebVtt: boolean): readonly CueRow[] {
  const reader = new CueTextReader(rows, isWebVtt);
  const source = rows.map(({ text }) => text).join('\n');
  let done = 0;
  for (const { 0: tag, index } of source.matchAll(isWebVtt ? WEBVTT_TAG : SUBRIP_TAG)) {
    reader.text(source.slice(done, index));
    reader.tag(tag);
    done = index + tag.length;
  }
  reader.text(source.slice(done));
  return reader.finish();
}

/** Returns the text of a row, of all speakers. */
export function rowText({ spans }: CueRow): string {
  return spans.map(({ text }) => text).join('');
}

// For example, `<i>`, `</font>`, `<v.loud Ann>` and `<00:01.000>`, but not the sign in `a <3 b`. Players also remove
// tags with a backslash, such as `{\an8}`, in WebVTT files that were made from SubRip files.
const TAG = String.raw`<\/?[a-z][^<>]*>|<[\d:.,]+>|<\/?>|\{\\[^{}]*\}`;
const WEBVTT_TAG = new RegExp(TAG, 'gi');
// In SubRip also `{y:i}`, and the line breaks and spaces of Advanced SubStation Alpha.
const SUBRIP_TAG = new RegExp(String.raw`${TAG}|\{[cfopsy]:[^{}]*\}|\\[nh]`, 'gi');

/** Signs without a shape, such as marks of direction. */
export const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

class CueTextReader {
  readonly #decode: (text: string) => string;
  readonly #source: readonly SourceRow[];
  readonly #rows: { readonly line: number; readonly spans: CueSpan[] }[] = [];
  #at = 0;
  #speaker: string | undefined;
  #startMs: number | undefined;
  #ruby: 'base' | 'none' | 'pronunciation' = 'none';

  constructor(source: readonly SourceRow[], isWebVtt: boolean) {
    this.#source = source;
    // HTML, and WebVTT, also decode some references without a semicolon. SubRip has no rule for references.
    this.#decode = isWebVtt ? decodeHTML : decodeHTMLStrict;
    this.#beginRow();
  }

  text(source: string): void {
    for (const [index, piece] of source.split('\n').entries()) {
      if (index > 0) this.#nextLine();
      const text = this.#decode(piece).replaceAll(INVISIBLE, '');
      if (text === '' || this.#ruby === 'pronunciation') continue;
      const speaker = this.#speaker === undefined ? {} : { speaker: this.#speaker };
      const time = this.#startMs === undefined ? {} : { startMs: this.#startMs };
      this.#rows.at(-1)?.spans.push({ text, ...speaker, ...time });
    }
  }

  tag(tag: string): void {
    const [, slash = '', given = ''] = /^<(\/?)([a-z\d]*)/i.exec(tag) ?? [];
    const name = given.toLowerCase();
    const isEnd = slash !== '';
    if (/^<\d/.test(tag)) this.#startMs = clockMs(tag.slice(1, -1)) ?? this.#startMs;
    else if (name === 'v') this.#speaker = isEnd ? undefined : this.#speakerIn(tag);
    else if (name === 'ruby') this.#ruby = isEnd ? 'none' : 'base';
    else if (name === 'rt' || name === 'rp') {
      if (this.#ruby !== 'none') this.#ruby = isEnd ? 'base' : 'pronunciation';
    } else if (name === 'br' || tag === '\\N' || tag === '\\n') this.#beginRow();
    else if (tag.toLowerCase() === '\\h') this.text(' ');
    for (let at = tag.indexOf('\n'); at !== -1; at = tag.indexOf('\n', at + 1)) this.#nextLine();
  }

  finish(): readonly CueRow[] {
    return this.#rows.filter((row) => rowText(row).trim() !== '');
  }

  #speakerIn(tag: string): string | undefined {
    const [, annotation = ''] = /^<v[^\s>]*\s([^>]*)>$/i.exec(tag) ?? [];
    const name = this.#decode(annotation).replaceAll(INVISIBLE, '').replaceAll(/\s+/g, ' ').trim();
    return name === '' ? undefined : name;
  }

  #nextLine(): void {
    this.#at += 1;
    this.#beginRow();
  }

  #beginRow(): void {
    this.#rows.push({ line: this.#source[this.#at]?.line ?? 0, spans: [] });
  }
}
