import { errnoOf, hasErrno, UnsafeFile } from '../durable/file-failures.ts';
import type { Links } from '../durable/own-files.ts';
import { readOwnFile, SMALL_FILE_BYTES } from '../durable/own-files.ts';
import type { FileSystem } from '../system/file-system.ts';
import { configFailure } from '../errors/failure.ts';
import { decodeUtf8, TextEncodingError } from '../text/decode.ts';
import { display } from '../text/display.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON file that contains an object. If the file is missing, returns undefined.
 * @param links `follow` if the file may be a symbolic link, such as the user's settings in a dotfiles folder
 * @throws Failure of kind `config` if the file is invalid or cannot be read
 */
export async function readJsonFile(
  files: FileSystem,
  file: string,
  links: Links,
): Promise<JsonObject | undefined> {
  const text = await readText(files, file, links);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const line = jsonFaultLine(text) ?? 1;
    throw configFailure(
      text.trim() === '' ? `${file} is empty` : `${file} is not valid JSON, at line ${line}`,
      'Fix or remove it; foley does not change an invalid file.',
    );
  }
  if (isObject(value)) return value;
  throw configFailure(`${file} is not a JSON object`, 'The file must begin with { and end with }.');
}

async function readText(
  files: FileSystem,
  file: string,
  links: Links,
): Promise<string | undefined> {
  try {
    return decodeUtf8(await readOwnFile(file, SMALL_FILE_BYTES, files, links));
  } catch (error) {
    if (error instanceof UnsafeFile) {
      throw configFailure(
        `${display(file)} cannot be used: ${error.message}`,
        'Replace it with a JSON file of your own, or remove it.',
      );
    }
    if (error instanceof TextEncodingError) {
      const { message: encodingProblem } = error;
      throw configFailure(`${file} is ${encodingProblem}`);
    }
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    const code = errnoOf(error) ?? String(error);
    throw configFailure(`${file} cannot be read (${code})`, 'Check the permissions of the file.');
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|"(?:[\u{20}\u{21}\u{23}-\u{5b}\u{5d}-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-]))/guy;

type Expected =
  | 'value'
  | 'value or end'
  | 'key'
  | 'key or end'
  | 'colon'
  | 'comma or end'
  | 'nothing';

/** Returns the line number, from 1, of the first syntax error in a JSON text; undefined if the text is valid. */
export function jsonFaultLine(text: string): number | undefined {
  const offset = jsonFaultOffset(text);
  return offset === undefined ? undefined : text.slice(0, offset).split('\n').length;
}

/** Returns the index of the first syntax error in a JSON text; undefined if the text is valid. */
export function jsonFaultOffset(text: string): number | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  let end = 0;
  for (const [spaced, mark] of text.matchAll(TOKEN)) {
    const token = spaced.trimStart();
    const value = token.startsWith('"') ? 'string' : 'scalar';
    const next = step(expected, mark ?? value, open);
    if (next === undefined) return end + spaced.length - token.length;
    expected = next;
    end += spaced.length;
  }
  const rest = text.slice(end).search(/[^ \t\r\n]/);
  if (rest !== -1) return end + rest;
  return expected === 'nothing' ? undefined : text.length;
}

function step(expected: Expected, token: string, open: string[]): Expected | undefined {
  const inside = open.at(-1);
  if (token === 'string' && (expected === 'key' || expected === 'key or end')) return 'colon';
  if (expected === 'value' || expected === 'value or end') {
    if (token === 'string' || token === 'scalar') return afterValue(open);
    if (token === '{' || token === '[') {
      open.push(token);
      return token === '{' ? 'key or end' : 'value or end';
    }
  }
  if (token === ':' && expected === 'colon') return 'value';
  if (token === ',' && expected === 'comma or end') return inside === '{' ? 'key' : 'value';
  const ends = expected.endsWith('or end') && token === (inside === '{' ? '}' : ']');
  if (!ends) return undefined;
  open.pop();
  return afterValue(open);
}

function afterValue(open: readonly string[]): Expected {
  return open.length === 0 ? 'nothing' : 'comma or end';
}
