import type { AssStyle } from './ass-style.ts';
import type { CueShape, Cue, CueLine, SubtitleFormat } from './cue-shape.ts';
import { lineText } from './cue-shape.ts';
import {
  escapeMarkup,
  laterTimes,
  speakerName,
  timestamp,
  withDirectionMarks,
} from './cue-writing.ts';
import { assFile, lrcFile } from './karaoke.ts';
import { shapeCues } from './shape-cues.ts';
import type { Timings } from './timings.ts';
import { findViolations, shownCues } from './violations.ts';
import type { CueViolation } from './violations.ts';

/**
 * Creates the content of a subtitle file. If `shape.by` is `word`, a SubRip or TTML file has one cue per word, and a
 * WebVTT file has longer cues with a timestamp for each word. Advanced SubStation Alpha and LRC always have word times.
 * @param cues the cues to write; default: cues with the words of the timings
 * @param assStyle the styles of a file of Advanced SubStation Alpha; default: styles of foley
 * @returns the content of the file, the number of cues, and the cues that violate a limit
 */
export function subtitlesOf(
  timings: Timings,
  shape: CueShape,
  format: SubtitleFormat,
  cues?: readonly Cue[],
  assStyle?: AssStyle,
): Subtitles {
  const isOneEach = format === 'srt' || format === 'ttml';
  const used: CueShape = shape.by === 'word' && !isOneEach ? { ...shape, by: 'phrase' } : shape;
  const written = cues ?? shapeCues(timings, used);
  // Cues that were read from a file keep the word times that the file has.
  const wordTimes = cues !== undefined || shape.by === 'word';
  const marked = withDirectionMarks(written);
  return {
    content: format === 'vtt' ? vttFile(marked, { wordTimes }) : WRITERS[format](marked, assStyle),
    cues: written.length,
    violations: cues === undefined ? findViolations(shownCues(written), used) : [],
  };
}

const WRITERS = { srt: srtFile, ass: assFile, ttml: ttmlFile, lrc: lrcFile } as const;

/** A subtitle file and its cues. */
export interface Subtitles {
  readonly content: string;
  readonly cues: number;
  readonly violations: readonly CueViolation[];
}

/** Formats a SubRip file with LF and no byte order mark. Cues are numbered from 1 and followed by a blank line. */
export function srtFile(cues: readonly Cue[]): string {
  return cues
    .map(({ startMs, endMs, lines }, index) => {
      const times = `${timestamp(startMs, ',')} --> ${timestamp(endMs, ',')}`;
      // Players would read a line with `-->` as the times of a cue, and SubRip has no way to escape it.
      const text = lines.map((line) => lineText(line).replaceAll('-->', '-- >')).join('\n');
      return `${index + 1}\n${times}\n${text}\n\n`;
    })
    .join('');
}

/**
 * Formats a WebVTT file (W3C) with LF and no byte order mark.
 * @param options with `wordTimes`, each word that is not yet spoken when its cue appears has a timestamp before it
 */
export function vttFile(
  cues: readonly Cue[],
  { wordTimes }: { readonly wordTimes: boolean },
): string {
  const blocks = cues.map((cue) => {
    const isLater = wordTimes ? laterTimes(cue) : () => false;
    const speaker = speakerName(cue);
    const voice = speaker === undefined ? '' : `<v ${escapeMarkup(speaker)}>`;
    const text = voice + cue.lines.map((line) => lineMarkup(line, isLater)).join('\n');
    return `\n${timestamp(cue.startMs, '.')} --> ${timestamp(cue.endMs, '.')}\n${text}\n`;
  });
  return `WEBVTT\n${blocks.join('')}`;
}

function lineMarkup(line: CueLine, isLater: ReturnType<typeof laterTimes>): string {
  return line
    .map(({ gap, startMs, text: word }, index) => {
      const time = isLater(startMs) ? `<${timestamp(startMs, '.')}>` : '';
      return `${index === 0 ? '' : gap}${time}${escapeMarkup(word)}`;
    })
    .join('');
}

/**
 * Formats a file of the text profile of IMSC 1.1 (W3C), the profile of TTML that players read. White text in a box at the
 * bottom, as wide as its lines. The language is empty, because timings do not state it.
 */
function ttmlFile(cues: readonly Cue[]): string {
  const speakers = Array.from(new Set(cues.flatMap((cue) => speakerName(cue) ?? [])));
  const paragraphs = cues.map((cue) => {
    const agent = speakers.indexOf(speakerName(cue) ?? '');
    const by = agent === -1 ? '' : ` ttm:agent="speaker${agent + 1}"`;
    const text = cue.lines.map((line) => escapeMarkup(lineText(line))).join('<br/>');
    const [begin, end] = [timestamp(cue.startMs, '.'), timestamp(cue.endMs, '.')];
    return `      <p begin="${begin}" end="${end}"${by}><span style="box">${text}</span></p>\n`;
  });
  return `${TTML_HEAD}${agentsOf(speakers)}${TTML_LAYOUT}${paragraphs.join('')}    </div>\n  </body>\n</tt>\n`;
}

function agentsOf(speakers: readonly string[]): string {
  if (speakers.length === 0) return '';
  const agents = speakers.map((name, index) => {
    const shown = escapeMarkup(name);
    return `      <ttm:agent type="person" xml:id="speaker${index + 1}"><ttm:name type="alias">${shown}</ttm:name></ttm:agent>\n`;
  });
  return `    <metadata>\n${agents.join('')}    </metadata>\n`;
}

const TTML_HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xmlns:tts="http://www.w3.org/ns/ttml#styling" xmlns:ttm="http://www.w3.org/ns/ttml#metadata" ttp:contentProfiles="http://www.w3.org/ns/ttml/profile/imsc1.1/text" ttp:timeBase="media" xml:lang="">
  <head>
`;

const TTML_LAYOUT = `    <styling>
      <style xml:id="cue" tts:color="white" tts:fontFamily="proportionalSansSerif" tts:fontSize="100%" tts:lineHeight="125%" tts:textAlign="center"/>
      <style xml:id="box" tts:backgroundColor="#000000cc"/>
    </styling>
    <layout>
      <region xml:id="bottom" tts:origin="10% 70%" tts:extent="80% 25%" tts:displayAlign="after"/>
    </layout>
  </head>
  <body region="bottom" style="cue">
    <div>
`;
