import path from 'node:path';
import { isObject } from '../config/json-file.ts';
import type { FileSystem } from '../system/file-system.ts';
import type { System } from '../system/system.ts';
import { outputFailure, UnsafeFile } from '../durable/file-failures.ts';
import { readOwnText, refuseLink } from '../durable/own-files.ts';
import { replaceFile } from '../durable/publish.ts';

/** The saved state of a recording, which lets foley skip work that was done before. */
export interface Memory {
  /**
   * Voice ids from earlier runs. The outer key is the service: its base URL or `embedded`. The inner key is the voice
   * as the user wrote it, a name or an id.
   */
  readonly voices: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The recording that was made last; undefined if there is none. */
  readonly made: MadeRecording | undefined;
}

export interface MadeRecording {
  /** Digest of the options and lines from which the recording was made. */
  readonly key: string;
  /** The files of the recording. Their paths are relative to the folder that contains the recording. */
  readonly files: readonly MadeFile[];
  /** The report that the command printed. */
  readonly report: RecordingReport;
}

/** The result of a recording, as the command prints it. */
export interface RecordingReport {
  /** Fields of the `recording` event that `--json` prints. */
  readonly event: Readonly<Record<string, unknown>>;
  readonly human: string;
  readonly warnings: readonly string[];
  /** True if a line does not fit its time slot (`--timing exact`), or a caption word has no time. */
  readonly isPartial: boolean;
}

function isRecordingReport(value: unknown): value is RecordingReport {
  if (!isObject(value)) return false;
  const { event, human, isPartial, warnings } = value;
  const isTexts = Array.isArray(warnings) && warnings.every((one) => typeof one === 'string');
  return isObject(event) && typeof human === 'string' && typeof isPartial === 'boolean' && isTexts;
}

interface MadeFile {
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

const MAX_BYTES = 4 * 1024 * 1024;
const NOTHING: Memory = { voices: {}, made: undefined };

/** Returns the path of the folder with the data of a recording: the audio of each line, and the journal. */
export function recordingFolder(output: string): string {
  return `${output}.foley`;
}

function memoryFile(output: string): string {
  return path.join(recordingFolder(output), 'recording.json');
}

/**
 * Reads the saved state of a recording. If its file is missing or invalid, returns an empty state.
 * @throws Failure of kind `output` if foley cannot store its state there: the folder is a link, or the file is no regular
 * file
 */
export async function readMemory(output: string, files: FileSystem): Promise<Memory> {
  const file = memoryFile(output);
  try {
    await refuseLink(recordingFolder(output), files);
    const value: unknown = JSON.parse(await readOwnText(file, MAX_BYTES, files));
    return isMemory(value) ? value : NOTHING;
  } catch (error) {
    if (error instanceof UnsafeFile) throw outputFailure(file, error, 'opening', '--output');
    return NOTHING;
  }
}

function isMemory(value: unknown): value is Memory {
  if (!isObject(value) || !isObject(value['voices'])) return false;
  const { made, voices } = value;
  const isVoices = Object.values(voices).every(
    (ids) => isObject(ids) && Object.values(ids).every((id) => typeof id === 'string'),
  );
  if (!isVoices || made === undefined) return isVoices;
  if (!isObject(made) || typeof made['key'] !== 'string' || !Array.isArray(made['files']))
    return false;
  if (!isRecordingReport(made['report'])) return false;
  return made['files'].every(
    (file) =>
      isObject(file) &&
      typeof file['path'] === 'string' &&
      typeof file['bytes'] === 'number' &&
      typeof file['mtimeMs'] === 'number',
  );
}

/**
 * Saves the state of a recording in the folder that {@link recordingFolder} returns, which must exist.
 * @param temporaryFolder a folder on the same disk as the recording
 * @throws Failure of kind `output`
 */
export async function writeMemory(
  output: string,
  memory: Memory,
  temporaryFolder: string,
  system: System,
): Promise<void> {
  const data = Buffer.from(`${JSON.stringify(memory)}\n`);
  await replaceFile(system, { path: memoryFile(output), temporaryFolder, data });
}

/** Returns path, size and modification time of files, so that a later command can recognize unchanged files. */
export async function describeFiles(
  paths: readonly string[],
  output: string,
  files: FileSystem,
): Promise<readonly MadeFile[]> {
  return Promise.all(
    paths.map(async (file) => {
      const { mtimeMs, size: bytes } = await files.stat(file);
      return { path: path.relative(path.dirname(output), file), bytes, mtimeMs };
    }),
  );
}

/**
 * Returns true if the saved recording was made from options and lines with the digest `key`, and its files are
 * unchanged.
 */
export async function isUpToDate(
  made: MadeRecording | undefined,
  key: string,
  output: string,
  files: FileSystem,
): Promise<boolean> {
  if (made?.key !== key) return false;
  for (const { bytes, mtimeMs, path: file } of made.files) {
    const stats = await files.stat(path.resolve(path.dirname(output), file)).catch(() => undefined);
    if (stats?.size !== bytes || stats.mtimeMs !== mtimeMs) return false;
  }
  return true;
}
