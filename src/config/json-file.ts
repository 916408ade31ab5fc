import type { FileSystem } from '../effects/file-system.ts';
import { configFailure } from '../errors/failure.ts';
import { decodeUtf8, TextEncodingError } from '../text/decode.ts';
import { jsonFaultLine } from './json-fault.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The object in a JSON file of the user's; `undefined` when there is no such file. A file that
 * cannot be understood is never taken for an empty one, and never written over.
 * @throws Failure (config) naming file and line
 */
export async function readJsonFile(
  files: Pick<FileSystem, 'readFile'>,
  file: string,
): Promise<JsonObject | undefined> {
  const text = await readText(files, file);
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
  files: Pick<FileSystem, 'readFile'>,
  file: string,
): Promise<string | undefined> {
  try {
    return decodeUtf8(await files.readFile(file));
  } catch (error) {
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
