export interface DisplayOptions {
  /** Maximum length of the result in code points, including the `…` of a truncated result. */
  readonly max?: number | undefined;
  /** Whether to escape the log commands of CI services (`::error::`, `##[…]`, `##vso[…]`); default true. */
  readonly neutralizeCi?: boolean | undefined;
}

/**
 * Formats an untrusted string, such as a file name or a message of a server, as one line that is safe to print. Escapes
 * control, bidirectional and invisible characters (as `\x1b` or `\u202e`), line breaks, non-characters and unpaired
 * surrogates. Keeps emoji sequences. Truncation never splits an escape; a truncated result ends in `…`.
 */
export function display(untrusted: string, options: DisplayOptions = {}): string {
  const max = Math.max(1, options.max ?? Infinity);
  const guardCi = options.neutralizeCi !== false && COMMAND.test(untrusted);
  const isSafe = PLAIN.test(untrusted) || !signs().suspicious.test(untrusted);
  if (untrusted.length <= max && isSafe && !guardCi) return untrusted;

  let shown = '';
  let length = 0;
  let cut = '';
  let atLineStart = true;
  for (let at = 0; at < untrusted.length;) {
    const character = characterAt(untrusted, at);
    const unit: string =
      guardCi && startsCommand(untrusted, at, atLineStart)
        ? escapeOf(character)
        : visible(untrusted, at, character);
    atLineStart &&= unit.trim() === '';
    at += character.length;
    // An escape sequence is ASCII, so its length counts; any other unit is one code point.
    length += unit === character ? 1 : unit.length;
    if (length > max) return `${cut}…`;
    shown += unit;
    if (length < max) cut = shown;
  }
  return shown;
}

/** Formats an untrusted text as `display` does, but keeps tabs and line breaks. */
export function displayText(untrusted: string): string {
  return untrusted.replaceAll(/[^\t\n]+/g, (part) => display(part));
}

/**
 * Escapes the log commands of CI services, as {@link display} does, and changes nothing else. For text that a program
 * may read.
 */
export function withoutCommands(text: string): string {
  if (!COMMAND.test(text)) return text;
  return text
    .replaceAll(/^([^\S\r\n]*)::/gm, (_all, space: string) => `${space}${escapeOf(':')}:`)
    .replaceAll(BRACKET_COMMAND, () => `${escapeOf('#')}#`);
}

/**
 * Escapes the log commands of CI services and control characters in bytes of JSON, of which each is a character of the
 * string. The result means the same.
 */
export function withoutCommandsInJson(json: string): string {
  return json
    .replaceAll(BRACKET_COMMAND, String.raw`\u0023#`)
    .replaceAll(C1_BYTES, (_all, sign: string) => unicodeEscape(sign))
    .replaceAll(RAW_CONTROL, (sign) => (sign === '\r' ? sign : unicodeEscape(sign)));
}

/**
 * Escapes control characters, such as those that move the cursor of a log, except for tabs and line ends.
 * @param keepsColors whether to keep the codes for colors
 */
export function withoutControls(text: string, keepsColors: boolean): string {
  if (!CONTROL.test(text)) return text;
  if (!keepsColors) return text.replaceAll(CONTROLS, escapeOf);
  return text.replaceAll(COLOR_OR_CONTROL, (sign) => (sign.length > 1 ? sign : escapeOf(sign)));
}

/** Does the same as {@link withoutControls} in bytes of UTF-8 or Latin-1, of which each is a character of the string. */
export function withoutControlBytes(bytes: string): string {
  return bytes
    .replaceAll(C1_BYTES, (_all, sign: string) => escapeOf(sign))
    .replaceAll(RAW_CONTROL, escapeOf);
}

// The control characters from U+0080 to U+009F in UTF-8.
const C1_BYTES = /\u00c2([\u0080-\u009f])/g;
const RAW_CONTROL = /(?!\r\n)[\0-\x08\x0b-\x1f\x7f]/g;
const CONTROL = /(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const CONTROLS = new RegExp(CONTROL, 'g');
const COLOR_OR_CONTROL = new RegExp(String.raw`\x1b\[[\d;]{0,20}m|${CONTROL.source}`, 'g');

// A command in brackets counts anywhere in a line.
const BRACKET_COMMAND = /##(?=[a-z]{0,16}\[)/gi;

/**
 * Serializes JSON that is safe to print: escapes control, bidirectional and invisible characters, and the log commands
 * of CI services.
 */
export function toJson(data: unknown, pretty = false): string {
  const json = JSON.stringify(data, undefined, pretty ? 2 : undefined).replaceAll(
    UNSAFE_IN_JSON,
    unicodeEscape,
  );
  return json.replaceAll(BRACKET_COMMAND, String.raw`\u0023#`);
}

function unicodeEscape(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

// These characters are valid in JSON, but invisible or able to control a terminal.
const UNSAFE_IN_JSON =
  /[\u007f-\u009f\u00ad\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\u061c|\u034f/gu;

const INVISIBLE =
  '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\ufff9-\\ufffb';
// Most texts are printable ASCII. The patterns for other texts take nearly a millisecond to compile.
const PLAIN = /^[\x20-\x7e]*$/;
const COMMAND = /::|##/;
const KEYCAP_BASE = /^[0-9#*]$/;

const KEYCAP = '\u20e3';
const ZERO_WIDTH_JOINER = '\u200d';
const VARIATION_SELECTORS = /^[\ufe0e\ufe0f]$/;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

let known: ReturnType<typeof compileSigns> | undefined;

const signs = () => (known ??= compileSigns());

function compileSigns() {
  return {
    suspicious: new RegExp(`[${INVISIBLE}]`, 'u'),
    suspiciousAlone: new RegExp(`^[${INVISIBLE}]$`, 'u'),
    pictograph: /^\p{Extended_Pictographic}$/u,
    pictographOrModifier: /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u,
    emojiBase: /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u,
  };
}

function visible(text: string, at: number, character: string): string {
  if (!signs().suspiciousAlone.test(character) || isEmojiGlue(text, at, character))
    return character;
  return SHORT_ESCAPES[character] ?? escapeOf(character);
}

function isEmojiGlue(text: string, at: number, character: string): boolean {
  const { emojiBase, pictograph, pictographOrModifier } = signs();
  if (character === ZERO_WIDTH_JOINER) {
    return (
      pictographOrModifier.test(characterBefore(text, at)) &&
      pictograph.test(characterAt(text, at + 1))
    );
  }
  if (!VARIATION_SELECTORS.test(character)) return false;
  const before = characterBefore(text, at);
  return emojiBase.test(before) || (KEYCAP_BASE.test(before) && text[at + 1] === KEYCAP);
}

function startsCommand(text: string, at: number, atLineStart: boolean): boolean {
  if (atLineStart && text.startsWith('::', at)) return true;
  return text.startsWith('##', at) && /^[a-z]{0,16}\[/i.test(text.slice(at + 2, at + 19));
}

function characterAt(text: string, at: number): string {
  return at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : '';
}

function characterBefore(text: string, at: number): string {
  const pair = at >= 2 ? characterAt(text, at - 2) : '';
  return pair.length === 2 ? pair : text.slice(Math.max(0, at - 1), at);
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\u{${code.toString(16)}}`;
}

/** Formats a count with its noun: `1 character`, `2 characters`. Forms the plural with `s`. */
export function counted(count: number | string, noun: string): string {
  return `${count} ${noun}${`${count}` === '1' ? '' : 's'}`;
}

/** Quotes a word for a shell. */
export function quoted(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
