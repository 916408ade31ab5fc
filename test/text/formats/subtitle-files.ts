import { readFileSync } from 'node:fs';

export type SubtitleTool = 'chromium' | 'ffmpeg' | 'pysubs2' | 'srt' | 'webvtt-py';

/** How a file in `test/fixtures/subtitles` must be read. */
export interface SubtitleFile {
  readonly name: string;
  /** The text of each cue that has text. Its rows are separated by spaces. */
  readonly cues: readonly string[];
  /** What is spoken, if these are not the texts of the cues. */
  readonly spoken?: string;
  /** The lines of a script: speaker and text. */
  readonly turns?: readonly (readonly [speaker: string | undefined, text: string])[];
  /** The tools that read other texts, and why the texts here are right. All other tools read the same. */
  readonly differs?: Partial<Record<SubtitleTool, string>>;
}

/** Returns the bytes of a file. */
export function subtitleBytes({ name }: SubtitleFile): Buffer {
  return readFileSync(new URL(`../../fixtures/subtitles/${name}`, import.meta.url));
}

const LIT = 'The lamp is lit.';
const CLIMBS = 'The keeper climbs the stairs again.';
const NIGHT = 'Good night.';
const PLAIN = [LIT, CLIMBS, NIGHT];
const TWO = [LIT, NIGHT];
const ROLLING = [
  'the lamp is lit',
  'the lamp is lit',
  'the lamp is lit and the keeper climbs',
  'and the keeper climbs',
  'and the keeper climbs the stairs again',
];

const KEEPS_MARKUP = 'It returns markup as text; players do not show it.';
const KEEPS_REFERENCES = 'It returns character references as text; WebVTT and HTML decode them.';
const SUBRIP_REFERENCES =
  'It returns character references as text. SubRip does not define them, but no speaker says "and quot".';
const NEEDS_BLANK_LINE = 'It needs a blank line before a cue; the standard does not.';
const RETURNS_COMMENTS = 'It returns comments as text; WebVTT ends a cue at a blank line.';
const SHOWS_RUBY = 'It returns the pronunciation after its word; both are the same word.';

const SUBRIP: readonly SubtitleFile[] = [
  { name: 'plain.srt', cues: PLAIN },
  { name: 'crlf.srt', cues: PLAIN },
  { name: 'cr.srt', cues: PLAIN, differs: { srt: 'It reads no lone CR; old files have them.' } },
  { name: 'byte-order-mark.srt', cues: PLAIN },
  { name: 'no-final-newline.srt', cues: PLAIN },
  {
    name: 'doubled-line-ends.srt',
    cues: PLAIN,
    differs: {
      srt: 'It finds no cue; the numbers and the times are complete.',
      'webvtt-py': 'It finds no cue; the numbers and the times are complete.',
    },
  },
  { name: 'no-blank-lines.srt', cues: PLAIN },
  {
    name: 'blank-rows-inside.srt',
    cues: PLAIN,
    differs: { ffmpeg: 'It loses the words after a row of white space.' },
  },
  { name: 'empty-cues.srt', cues: TWO },
  {
    name: 'empty-cues-no-blank-lines.srt',
    cues: TWO,
    differs: {
      pysubs2: 'It returns the number of the next cue as text.',
      srt: 'It returns the number and the times of the next cue as text.',
    },
  },
  {
    name: 'tags.srt',
    cues: [LIT, 'The keeper climbs', 'the stairs again.'],
    differs: { srt: KEEPS_MARKUP },
  },
  {
    name: 'overrides.srt',
    cues: [LIT, 'The keeper climbs the stairs.', NIGHT],
    differs: { srt: KEEPS_MARKUP, 'webvtt-py': KEEPS_MARKUP },
  },
  {
    name: 'character-references.srt',
    cues: ['"It\'s lit," she said.', 'Café & bar ’24', 'AT&T, R&D and &unknown; &copy 2020'],
    differs: {
      ffmpeg: SUBRIP_REFERENCES,
      pysubs2: SUBRIP_REFERENCES,
      srt: SUBRIP_REFERENCES,
      'webvtt-py': SUBRIP_REFERENCES,
    },
  },
  {
    name: 'signs.srt',
    cues: ['I <3 this lamp', '5 < 6 > 4', 'x{1} and {y}'],
    differs: {
      ffmpeg: 'It removes braces without a backslash; these are words.',
      pysubs2: 'It removes braces without a backslash; these are words.',
      'webvtt-py': 'It takes signs of arithmetic for a tag.',
    },
  },
  { name: 'arrow-in-text.srt', cues: ['Lamp --> stairs', '--> and up'] },
  {
    name: 'without-numbers.srt',
    cues: [LIT, 'The keeper climbs the stairs.'],
    differs: {
      ffmpeg: 'It finds no cue; the times are complete.',
      'webvtt-py': 'It finds no cue; the times are complete.',
    },
  },
  { name: 'numbers-as-text.srt', cues: ['12', 'The year is 1984', '3'] },
  { name: 'short-times.srt', cues: TWO },
  { name: 'coordinates.srt', cues: TWO },
  { name: 'hours.srt', cues: TWO },
  {
    name: 'joined-files.srt',
    cues: [LIT, CLIMBS, NIGHT, 'Sleep well.'],
    differs: {
      ffmpeg: 'It takes the number after the second byte order mark for text.',
      pysubs2: 'It takes the number after the second byte order mark for text.',
      srt: 'It takes the number and the times after the second byte order mark for text.',
      'webvtt-py': 'It takes the number and the times after the second byte order mark for text.',
    },
  },
  {
    name: 'speakers.srt',
    cues: ['- Is it lit? - Yes.', 'ANN: Is it lit? BOB: Yes.', '– ANN: It is -5 degrees.'],
    spoken: 'Is it lit? Yes. ANN: Is it lit? BOB: Yes. ANN: It is -5 degrees.',
    turns: [
      [undefined, 'Is it lit? Yes.'],
      ['ANN', 'Is it lit?'],
      ['BOB', 'Yes.'],
      ['ANN', 'It is -5 degrees.'],
    ],
  },
  {
    name: 'right-to-left.srt',
    cues: ['המנורה דולקת.', 'لقد أضيء المصباح.'],
    differs: {
      ffmpeg: 'It keeps marks of direction, which are no part of a word.',
      pysubs2: 'It keeps marks of direction, which are no part of a word.',
      srt: 'It keeps marks of direction, which are no part of a word.',
      'webvtt-py': 'It keeps marks of direction, which are no part of a word.',
    },
  },
  { name: 'chinese.srt', cues: ['灯亮了。', '看守人又 爬上楼梯。'] },
  {
    name: 'rolling.srt',
    cues: ROLLING,
    spoken: 'the lamp is lit and the keeper climbs the stairs again',
  },
  {
    name: 'rolling-three-rows.srt',
    cues: [
      'THE LAMP IS LIT.',
      'THE LAMP IS LIT. AND THE KEEPER CLIMBS',
      'THE LAMP IS LIT. AND THE KEEPER CLIMBS THE STAIRS AGAIN.',
      'AND THE KEEPER CLIMBS THE STAIRS AGAIN. GOOD NIGHT.',
    ],
    spoken: 'THE LAMP IS LIT. AND THE KEEPER CLIMBS THE STAIRS AGAIN. GOOD NIGHT.',
  },
  {
    name: 'growing-rows.srt',
    cues: [
      'the',
      'the lamp',
      'the lamp is lit',
      'the lamp is lit and',
      'the lamp is lit and the keeper climbs',
    ],
    spoken: 'the lamp is lit and the keeper climbs',
    turns: [
      [undefined, 'the lamp is lit'],
      [undefined, 'and the keeper climbs'],
    ],
  },
  { name: 'repeated-words.srt', cues: ['No.', 'No.', 'No, no.', 'No, no. Never.'] },
];

const WEBVTT: readonly SubtitleFile[] = [
  { name: 'plain.vtt', cues: PLAIN },
  { name: 'crlf-byte-order-mark.vtt', cues: PLAIN },
  {
    name: 'cr.vtt',
    cues: PLAIN,
    differs: { ffmpeg: 'It loses the first cue and the ends of rows; CR ends a row.' },
  },
  { name: 'no-final-newline.vtt', cues: PLAIN },
  { name: 'header.vtt', cues: PLAIN },
  { name: 'cue-after-header.vtt', cues: TWO, differs: { ffmpeg: NEEDS_BLANK_LINE } },
  {
    name: 'notes.vtt',
    cues: [LIT, 'NOTE this is said'],
    differs: { pysubs2: RETURNS_COMMENTS },
  },
  { name: 'styles-and-regions.vtt', cues: [LIT] },
  {
    name: 'identifiers.vtt',
    cues: ['One.', 'Two.', 'Three.', 'Four.', 'Five.'],
    differs: {
      ffmpeg: 'It skips cues whose identifiers begin like a comment.',
      pysubs2: 'It returns identifiers as text.',
    },
  },
  { name: 'settings.vtt', cues: TWO },
  {
    name: 'voices.vtt',
    cues: ['Is it lit?', 'Yes.', 'It is.', NIGHT],
    turns: [
      ['Ann', 'Is it lit?'],
      ['Bob Smith', 'Yes.'],
      [undefined, 'It is.'],
      ['Ann', NIGHT],
    ],
  },
  {
    name: 'voices-in-one-cue.vtt',
    cues: ['Is it lit? Yes.', `${LIT} It is.`, 'Somebody knocks. Who is it?'],
    turns: [
      ['Ann', 'Is it lit?'],
      ['Bob', 'Yes.'],
      ['Cy & Di', LIT],
      ['Ann', 'It is.'],
      [undefined, 'Somebody knocks.'],
      ['Bob', 'Who is it?'],
    ],
  },
  { name: 'classes-and-languages.vtt', cues: ['The lamp is allumée.', NIGHT] },
  {
    name: 'ruby.vtt',
    cues: ['漢字を読む。', '東京へ。'],
    differs: { ffmpeg: SHOWS_RUBY, pysubs2: SHOWS_RUBY, 'webvtt-py': SHOWS_RUBY },
  },
  {
    name: 'inline-times.vtt',
    cues: TWO,
    differs: {
      pysubs2: 'It returns some inline times as text, and loses words between two of them.',
    },
  },
  { name: 'hours.vtt', cues: TWO },
  { name: 'times-without-hours.vtt', cues: TWO },
  {
    name: 'character-references.vtt',
    cues: [
      '"It\'s lit," she said.',
      'Café & bar ’24 <b>',
      'AT&T, R&D and &unknown; © 2020',
      'Good night…',
    ],
    differs: {
      ffmpeg: KEEPS_REFERENCES,
      pysubs2: KEEPS_REFERENCES,
      'webvtt-py': KEEPS_REFERENCES,
      chromium: 'It keeps marks of direction, which are no part of a word.',
    },
  },
  {
    name: 'escaped-once.vtt',
    cues: ['&lt;i&gt; and <i>', '&amp; <v Ann>'],
    differs: { ffmpeg: KEEPS_REFERENCES, pysubs2: KEEPS_REFERENCES, 'webvtt-py': KEEPS_REFERENCES },
  },
  { name: 'white-space-rows.vtt', cues: [LIT, CLIMBS] },
  {
    name: 'rows-after-a-blank-line.vtt',
    cues: TWO,
    differs: {
      chromium: 'The standard ignores these rows. Someone wrote them to be said.',
      ffmpeg: 'It ignores these rows, and the cue after them.',
      'webvtt-py': 'The standard ignores these rows. Someone wrote them to be said.',
    },
  },
  {
    name: 'no-blank-lines.vtt',
    cues: [LIT, 'The keeper climbs', 'the stairs again.'],
    differs: {
      chromium: 'The standard takes the number before the times for text. Nobody says it.',
      ffmpeg: NEEDS_BLANK_LINE,
      'webvtt-py': 'The standard takes the number before the times for text. Nobody says it.',
    },
  },
  { name: 'empty-cues.vtt', cues: TWO },
  {
    name: 'tag-over-two-lines.vtt',
    cues: [LIT, NIGHT],
    turns: [
      [undefined, LIT],
      ['Ann', NIGHT],
    ],
    differs: { 'webvtt-py': KEEPS_MARKUP },
  },
  {
    name: 'cue-in-a-note.vtt',
    cues: TWO,
    differs: {
      ffmpeg: 'It takes the cues for comments; in the standard, a line with times begins a cue.',
      pysubs2: RETURNS_COMMENTS,
    },
  },
  {
    name: 'joined-segments.vtt',
    cues: TWO,
    differs: { pysubs2: 'It returns the second header as text.' },
  },
  {
    name: 'rolling.vtt',
    cues: ROLLING,
    spoken: 'the lamp is lit and the keeper climbs the stairs again',
    turns: [
      [undefined, 'the lamp is lit'],
      [undefined, 'and the keeper climbs'],
      [undefined, 'the stairs again'],
    ],
    differs: {
      pysubs2: 'It returns some inline times as text, and loses words between two of them.',
    },
  },
];

export const SUBTITLE_FILES: readonly SubtitleFile[] = [...SUBRIP, ...WEBVTT];
