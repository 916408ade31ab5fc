import type { AssStyle } from './ass-style.ts';
import type { Cue, CueWord } from './cue-shape.ts';
import { laterTimes, speakerName, twoDigits } from './cue-writing.ts';

/**
 * Formats a file of Advanced SubStation Alpha (version 4.00+) with LF. Words that are not yet spoken have another
 * colour. The times of this format are hundredths of a second.
 * @param style the styles of the file; default: white text that turns yellow when it is spoken
 */
export function assFile(cues: readonly Cue[], style: AssStyle = OWN_STYLE): string {
  return `${assHead(style)}${cues.map((cue) => `${assEvent(cue, style)}\n`).join('')}`;
}

function assHead({ info, rows }: AssStyle): string {
  const head = ['[Script Info]', 'ScriptType: v4.00+', ...info];
  const events = 'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text';
  return [...head, '', '[V4+ Styles]', ...rows, '', '[Events]', events, ''].join('\n');
}

// For a picture of 1920 x 1080 pixels; players scale it to other sizes.
const OWN_STYLE: AssStyle = {
  info: ['PlayResX: 1920', 'PlayResY: 1080', 'WrapStyle: 0', 'ScaledBorderAndShadow: yes'],
  rows: [
    'Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding',
    'Style: Default,Arial,64,&H0000FFFF,&H00FFFFFF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,3,1,2,96,96,60,1',
    'Style: Plain,Arial,64,&H00FFFFFF,&H00FFFFFF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,3,1,2,96,96,60,1',
  ],
  timed: 'Default',
  plain: 'Plain',
};

function assEvent(cue: Cue, { plain, timed }: AssStyle): string {
  const [start, end] = [hundredths(cue.startMs), hundredths(cue.endMs)];
  const times = `${assTime(start)},${assTime(Math.max(end, start + 1))}`;
  // A comma would end the field.
  const name = (speakerName(cue) ?? '').replaceAll(',', ' ');
  const syllables = syllablesOf(cue, assText, () => String.raw`\N`);
  // A cue may be shown before its first word.
  const lead = Math.max(0, hundredths(syllables[0]?.startMs ?? 0) - start);
  let done = start + lead;
  const text = syllables.map(({ text: syllable }, index) => {
    const until = Math.max(done, hundredths(syllables[index + 1]?.startMs ?? cue.endMs));
    const duration = until - done;
    done = until;
    return syllables.length > 1 ? `{\\k${duration}}${syllable}` : syllable;
  });
  const isTimed = syllables.length > 1;
  const before = isTimed && lead > 0 ? `{\\k${lead}}` : '';
  return `Dialogue: 0,${times},${isTimed ? timed : plain},${name},0,0,0,,${before}${text.join('')}`;
}

const WORD_JOINER = '\u2060';

// `\N`, `\n` and `\h` are a break and a space, and braces enclose overrides.
function assText(text: string): string {
  return text
    .replaceAll(/\\(?=[Nnh{}])/g, `\\${WORD_JOINER}`)
    .replaceAll('{', String.raw`\{`)
    .replaceAll('}', String.raw`\}`);
}

function assTime(centiseconds: number): string {
  const seconds = Math.floor(centiseconds / 100);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}.${twoDigits(centiseconds % 100)}`;
}

function hundredths(ms: number): number {
  return Math.round(ms / 10);
}

/** The text of a cue from one word time to the next. The text has the markup of the format. */
interface Syllable {
  readonly startMs: number;
  readonly text: string;
}

// The space before a word belongs to the syllable before it, as in files that other programs write.
function syllablesOf(
  cue: Cue,
  textOf: (text: string) => string,
  lineBreak: (gap: CueWord['gap']) => string,
): readonly Syllable[] {
  const isLater = laterTimes(cue);
  const syllables: Syllable[] = [];
  let [startMs, text] = [cue.startMs, ''];
  for (const [lineIndex, line] of cue.lines.entries()) {
    for (const [index, word] of line.entries()) {
      if (index > 0) text += word.gap;
      else if (lineIndex > 0) text += lineBreak(word.gap);
      if (isLater(word.startMs)) {
        if (text !== '') syllables.push({ startMs, text });
        [startMs, text] = [word.startMs, ''];
      }
      text += textOf(word.text);
    }
  }
  return [...syllables, { startMs, text }];
}

// In a shorter gap between two lines, an empty line would only flicker.
const PAUSE_MS = 500;

/**
 * Formats an LRC file with LF, and a time before each word ("enhanced" LRC). A cue is one line. The format has no ends:
 * a line ends where the next one begins, and an empty line stands for a pause between two cues.
 */
export function lrcFile(cues: readonly Cue[]): string {
  const rows = cues.map((cue, index) => {
    const pauseMs = (cues[index + 1]?.startMs ?? Infinity) - cue.endMs;
    const end = pauseMs >= PAUSE_MS ? `[${lrcTime(cue.endMs)}]\n` : '';
    const speaker = speakerName(cue);
    const before = speaker === undefined ? '' : `${lrcText(speaker)}: `;
    const syllables = syllablesOf(cue, lrcText, (gap) => gap);
    const words = syllables.map(({ startMs, text }) => {
      return syllables.length > 1 ? `<${lrcTime(startMs)}>${text}` : text;
    });
    return `[${lrcTime(cue.startMs)}]${before}${words.join('')}\n${end}`;
  });
  return rows.join('');
}

// Other programs would read such text as a time or as a tag such as `[ti:`.
function lrcText(text: string): string {
  return text.replaceAll(/[[<](?=\d|[a-z#]+:)/gi, `$&${WORD_JOINER}`);
}

function lrcTime(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const fraction = `${ms % 1_000}`.padStart(3, '0');
  return `${twoDigits(Math.floor(seconds / 60))}:${twoDigits(seconds % 60)}.${fraction}`;
}
