import type { DocumentFormat } from './text-formats.ts';

/**
 * Returns a notice about a plain text that looks like a document, whose marks are spoken and billed. Returns undefined for
 * other texts.
 * @param name name of the text, such as `stdin`
 * @param isLive whether the command is `foley live`, which reads no documents except Markdown
 */
export function markupNotice(text: string, name: string, isLive = false): string | undefined {
  const format = guessFormat(text);
  if (format === undefined) return undefined;
  const command = isLive && format !== 'markdown' ? 'foley tts ' : '';
  const root = format === 'ssml' && !SSML_ROOT.test(text) ? ', within <speak> and </speak>' : '';
  const title = TITLES[format];
  return `${name} looks like ${title}, but is spoken and billed with its marks. \`${command}--text-format ${format}\` reads it as ${title}${root}.`;
}

type GuessedFormat = Extract<DocumentFormat, 'html' | 'markdown' | 'ssml' | 'subtitles'>;

/**
 * Guesses the format of a text by its beginning: HTML, SSML, Markdown or subtitles.
 * @returns undefined if the text is plain, or if its format is uncertain
 */
export function guessFormat(text: string): GuessedFormat | undefined {
  const head = text.slice(0, READ_CHARACTERS);
  // Most texts have no marks. Compiling the patterns for other texts takes nearly a millisecond.
  if (!/[<[#]|-->|WEBVTT/.test(head)) return undefined;
  const beginning = head.replace(PROLOG, '');
  if (SSML_ROOT.test(beginning) || SSML_TAG.test(beginning)) return 'ssml';
  if (SUBTITLES.test(beginning)) return 'subtitles';
  if (HTML_ROOT.test(beginning) || HTML_END.test(beginning)) return 'html';
  return MARKDOWN.test(beginning) ? 'markdown' : undefined;
}

const READ_CHARACTERS = 4_000;

const TITLES: Readonly<Record<GuessedFormat, string>> = {
  html: 'HTML',
  markdown: 'Markdown',
  ssml: 'SSML',
  subtitles: 'subtitles',
};

// White space, the declaration of XML, and comments.
const PROLOG = /^(?:\s+|<\?xml[^<>]{0,200}\?>|<!--(?:(?!-->)[^])*-->){1,20}/i;
const SSML_ROOT = /^\s*<speak[\s>]/;
const SSML_TAG = /<(?:break(?:\s[^<>]{0,200})?\/?>|(?:prosody|say-as|phoneme)\s[^<>]{0,200}>)/;
const SUBTITLES =
  /^(?:WEBVTT[ \t]*(?:\n|\r)|(?:\d+[ \t]*\r?\n)?(?:\d+:)?\d\d?:\d\d[,.]\d{2,3}[ \t]*-->[ \t]*\d)/;
const ELEMENTS =
  'a|abbr|article|aside|b|blockquote|body|br|caption|center|cite|code|dd|del|div|dl|dt|em|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|li|link|main|mark|meta|nav|ol|p|pre|script|section|small|span|strong|style|su[bp]|table|tbody|td|th|thead|title|tr|u|ul';
const HTML_ROOT = new RegExp(`^<(?:!doctype html|(?:${ELEMENTS})(?:\\s[^<>]{0,400})?/?>)`, 'i');
const HTML_END = new RegExp(`<(${ELEMENTS})(?:\\s[^<>]{0,400})?>[^<>]{1,400}</\\1>`, 'i');
// A link, or a heading with an empty line after it.
const MARKDOWN =
  /\[[^[\]\n]{1,200}\]\((?:https?:\/\/|\.{0,2}\/)[^()\s]+\)|^#{1,6} \S[^\n]*\n\s*\n/m;
