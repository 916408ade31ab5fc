import { hasShape } from '../durable/log.ts';
import { DocumentError } from '../text/formats/document-error.ts';

/** The styles of a file of Advanced SubStation Alpha, and which of them the cues use. */
export interface AssStyle {
  /** Rows of `[Script Info]` on which the sizes in the styles depend, such as `PlayResX: 1920`. */
  readonly info: readonly string[];
  /** Rows of `[V4+ Styles]`: their format, and the styles. */
  readonly rows: readonly string[];
  /** Name of the style of cues with word times. */
  readonly timed: string;
  /** Name of the style of cues without word times. */
  readonly plain: string;
}

// Without these rows, players assume another size of the picture, or break lines differently.
const SIZES = /^(?:PlayRes[XY]|LayoutRes[XY]|ScaledBorderAndShadow|WrapStyle)\s*:/i;

/**
 * Reads the styles of a file of Advanced SubStation Alpha (version 4.00+). Cues use its style `Default`, or its first
 * one; cues without word times use its style `Plain`, if there is one.
 * @throws DocumentError that names the line
 */
export function parseAssStyle(content: string): AssStyle {
  const info: string[] = [];
  const styles: string[] = [];
  const names: string[] = [];
  let section = '';
  let format: readonly string[] | undefined;
  for (const [index, source] of content
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const row = source.trim();
    const line = index + 1;
    if (/^\[.*\]$/.test(row)) section = row.toLowerCase();
    if (section === '[v4 styles]') throw oldStyles(line);
    if (section === '[script info]' && SIZES.test(row)) info.push(row);
    if (section !== '[v4+ styles]') continue;
    const [, kind = '', rest = ''] = /^(Format|Style)\s*:\s*(.*)$/i.exec(row) ?? [];
    if (kind.toLowerCase() === 'format') {
      format = rest.split(',').map((field) => field.trim().toLowerCase());
      styles.unshift(row);
    } else if (kind !== '') {
      names.push(styleName(rest, format, line));
      styles.push(row);
    }
  }
  const [first] = names;
  if (first === undefined) {
    throw new DocumentError('no style of Advanced SubStation Alpha', {
      hint: 'Use a .ass file that has a section [V4+ Styles].',
    });
  }
  const timed = names.find((name) => name === 'Default') ?? first;
  const plain = names.find((name) => name === 'Plain') ?? timed;
  return { info, rows: styles, timed, plain };
}

function styleName(rest: string, format: readonly string[] | undefined, line: number): string {
  if (format === undefined) {
    throw new DocumentError('a style before the row "Format:" of the styles', { line });
  }
  const values = rest.split(',').map((value) => value.trim());
  const name = values[format.indexOf('name')] ?? '';
  if (values.length === format.length && name !== '') return name;
  throw new DocumentError(
    `a style with ${values.length} fields, but the format has ${format.length}: ${format.join(', ')}`,
    { line, hint: 'Give the style a name, and a value for each field.' },
  );
}

function oldStyles(line: number): DocumentError {
  return new DocumentError('styles of SubStation Alpha 4.00', {
    line,
    hint: 'Save the file as Advanced SubStation Alpha, which has a section [V4+ Styles].',
  });
}

/** Returns whether a recorded value is a style. A missing value is valid. */
export function isAssStyle(value: unknown): value is AssStyle | undefined {
  if (value === undefined) return true;
  if (!hasShape(value, { timed: 'string', plain: 'string' })) return false;
  const { info, rows } = value;
  return areTexts(info) && areTexts(rows);
}

function areTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'string');
}
