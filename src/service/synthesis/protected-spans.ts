/** A stretch of a text, in UTF-16 units. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

const DELIMITERS = [
  ['```', '```'],
  ['"', '"'],
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
  ['「', '」'],
  ['『', '』'],
] as const;

/** Bounded everywhere, so that no text takes long. Single quotes and backticks hug what they quote. */
const PATTERNS = [
  /(?<![^\s("'[{])`[^`\n]{1,500}`/g,
  /(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![\p{L}\p{N}])/gu,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi,
  /\bwww\.\S+/gi,
  /<\/?[a-z][^<>\n]{0,200}>/gi,
  /\[[^[\]\n]{1,200}\]/g,
  /\{[^{}\n]{1,200}\}/g,
];

/** Code, URLs, quoted literals and speech tags: what a filter of decoration has to leave alone. */
export function protectedSpans(text: string): readonly TextSpan[] {
  return [
    ...DELIMITERS.flatMap(([open, close]) => between(text, open, close)),
    ...PATTERNS.flatMap((pattern) =>
      [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
        start: index,
        end: index + found.length,
      })),
    ),
  ];
}

function between(text: string, open: string, close: string): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  let position = 0;
  for (;;) {
    const start = text.indexOf(open, position);
    const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
    if (end === -1) return spans;
    position = end + close.length;
    spans.push({ start, end: position });
  }
}
