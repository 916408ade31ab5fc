import type { FileSystem } from '../effects/file-system.ts';
import { configFailure } from '../errors/failure.ts';
import type { Links } from '../files/own-files.ts';
import { readOwnFile, SMALL_FILE_BYTES, UnsafeFile } from '../files/own-files.ts';
import { decodeUtf8, TextEncodingError } from '../text/decode.ts';
import { display } from '../text/display.ts';
import { jsonFaultLine } from './json-fault.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The object in a JSON file of the user's; `undefined` when there is no such file. A file that
 * cannot be understood is never taken for an empty one, and never written over.
 * @param links `follow` for the person's own configuration, which dotfile managers link to
 * @throws Failure (config) naming file and line
 */
export async function readJsonFile(
  files: FileSystem,
  file: string,
  links: Links,
): Promise<JsonObject | undefined> {
  const text = await readText(files, file, links);
  if (text === undefined) return undefined;
  const value = parse(text, file);
  if (!isObject(value)) {
    throw configFailure(`${file} is not a JSON object`, 'It should begin with { and end with }.');
  }
  return value;
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const problem =
      text.trim() === '' ? 'is empty' : `is not valid JSON, at line ${jsonFaultLine(text) ?? 1}`;
    throw configFailure(
      `${file} ${problem}`,
      'Mend it or remove it; foley does not change it as it is.',
    );
  }
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
        'Put a JSON file of your own there, or remove it.',
      );
    }
    if (error instanceof TextEncodingError) throw configFailure(`${file} is ${error.message}`);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw configFailure(
      `${file} cannot be read (${typeof code === 'string' ? code : String(error)})`,
      'Check its permissions.',
    );
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
