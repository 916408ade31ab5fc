import { dirname, join } from 'node:path';
import type { SpeechFormat } from '../../contract/speech.ts';
import { hasErrno } from '../../durable/file-failures.ts';
import { removeQuietly, isTemporaryName } from '../../durable/files.ts';
import type { System } from '../../system/system.ts';
import type { Output } from '../../durable/output.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';
import { openOutput } from '../../durable/publish.ts';
import type { FileHandle, FileSystem } from '../../system/file-system.ts';
import type { SpeechLength } from '../../audio/encode/file-head.ts';
import { createFileHead } from '../../audio/encode/file-head.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';
import { SpeechLimit } from '../engine/speech-engine.ts';
import type { EncodeSpeech } from './encode.ts';

/** Stores audio files next to the database, with a folder for each owner, such as a job. */
export type AudioFolder = ReturnType<typeof createAudioFolder>;

/**
 * Creates the folder of audio files.
 * @param databasePath path of the database that lists the files
 * @param rootName name of the folder next to the database
 */
export function createAudioFolder(databasePath: string, deps: System, rootName = 'audio') {
  const root = join(dirname(databasePath), rootName);
  const fileOf = (owner: string, name: string): string => join(root, owner, name);
  return {
    /**
     * Opens a temporary file for audio. Call `publish` of the returned output to rename the file to `name`; this
     * replaces an older file.
     * @throws Failure when the file cannot be written
     */
    async create(owner: string, name: string): Promise<Output> {
      await ensurePrivateFolder(join(root, owner), deps.files);
      return openOutput(deps, { path: fileOf(owner, name), mode: 0o600 });
    },
    /** Returns a completely written audio file; undefined if there is none with this name. */
    find: (owner: string, name: string) => openStoredAudio(fileOf(owner, name), deps.files),
    /** Deletes a file; ignores errors. */
    remove: (owner: string, name: string) => removeQuietly(deps, fileOf(owner, name)),
    /** Deletes the folder of an owner. @throws the file system's error */
    discard: (owner: string) => deps.files.rm(join(root, owner), { recursive: true, force: true }),
    /** Deletes the unfinished files that killed processes left in an owner's folder. */
    async sweep(owner: string): Promise<void> {
      const folder = join(root, owner);
      const names = await deps.files.readdir(folder).catch((error: unknown) => {
        if (hasErrno(error, 'ENOENT')) return [];
        throw error;
      });
      for (const name of names) {
        if (isTemporaryName(name)) await removeQuietly(deps, join(folder, name));
      }
    },
  };
}

/** A completely written audio file. Each call of `read` opens the file again. */
export interface StoredAudio {
  readonly size: number;
  /** Version of the file, which changes when the file is replaced. */
  readonly version: string;
  /** Reads the file in pieces. @param start first byte, default 0 @param end exclusive, default the file size */
  read(start?: number, end?: number): AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

const PIECE_BYTES = 64 * 1024;

async function openStoredAudio(path: string, files: FileSystem): Promise<StoredAudio | undefined> {
  try {
    const { mtimeMs, size } = await files.stat(path);
    return {
      size,
      version: `${size.toString(16)}-${mtimeMs.toString(16)}`,
      read: (start = 0, end = size) => readPieces(path, { start, end }, files),
    };
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function* readPieces(
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
  files: FileSystem,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const file = await files.open(path, 'r');
  try {
    for (let at = start; at < end;) {
      const piece = await readPiece(file, at, Math.min(end - at, PIECE_BYTES));
      at += piece.length;
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(
  file: FileHandle,
  position: number,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead === 0) throw new Error('a stored file became shorter while it was read');
  return buffer.subarray(0, bytesRead);
}

interface SpeechWriting {
  readonly output: Output;
  readonly encode: EncodeSpeech;
  readonly format: SpeechFormat;
  /** Change of the audio level in decibels. */
  readonly gainDb: number;
}

/**
 * Writes speech to a file, states the exact length in the header, and gives the file its final name. On an error, such
 * as speech that is too long, the caller must abandon the output.
 */
export async function writeSpeech(
  { output, encode, format, gainDb }: SpeechWriting,
  chunks: AsyncIterable<SpeechChunk>,
): Promise<SpeechLength> {
  const length = { samples: 0, sampleRate: 0 };
  async function* counted(): AsyncGenerator<SpeechChunk> {
    const limit = new SpeechLimit();
    for await (const chunk of chunks) {
      limit.add(chunk);
      length.samples += chunk.samples.length;
      length.sampleRate = chunk.sampleRate;
      yield chunk;
    }
  }
  const head = createFileHead(format);
  for await (const bytes of encode(format, counted(), { gainDb })) {
    for (const part of head.pass(bytes)) await output.write(part);
  }
  const beginning = head.finish(length);
  if (beginning !== undefined) await output.overwrite(0, beginning);
  await output.publish();
  return length;
}
