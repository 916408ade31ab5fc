import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import { Failure, usageFailure } from '../../errors/failure.ts';
import { errnoOf } from '../../files/errno.ts';
import { reasonOf } from '../../files/errno-reasons.ts';
import { createUtf8Decoder, decodeUtf8, TextEncodingError } from '../../text/decode.ts';
import { display } from '../../text/display.ts';

/** Bytes that may be read more than once: a plan goes over its inputs several times. */
export interface InputFile {
  /** For messages. */
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
}

export interface NumberedLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** The longest text, every character of it written as an escape, and room for what is around it. */
export const LONGEST_LINE = 1 << 20;

/** A file of the disk; it is opened when it is read, and refused then if it can be read only once. */
export function inputFile(name: string, files: FileSystem): InputFile {
  return {
    name,
    async *open() {
      const handle = await openFile(name, files);
      try {
        // The stream closes the handle, also when it is left early.
        for await (const chunk of handle.createReadStream({ highWaterMark: 1 << 17 })) yield chunk;
      } catch (error) {
        throw unreadable(name, error);
      }
    },
  };
}

/** Without waiting, as the opening of a pipe would, for somebody at its other end. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

async function openFile(name: string, files: FileSystem): Promise<FileHandle> {
  const handle = await files.open(name, AT_ONCE).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  const stats = await handle.stat();
  if (stats.isFile() || stats.isDirectory()) return handle;
  await handle.close();
  throw usageFailure(
    `${display(name)} is a pipe or a device, which can be read only once`,
    'Put what comes out of it into a file, or name it on the command line.',
  );
}

/** What came through a pipe, kept. */
export function inputBytes(name: string, bytes: Uint8Array): InputFile {
  return {
    name,
    async *open() {
      yield bytes;
    },
  };
}

/**
 * The lines of a text that are not blank, without their ends; holds one of them at a time.
 * @throws Failure (usage) for what cannot be read or is not UTF-8, naming the line
 */
export async function* linesOf(input: InputFile): AsyncGenerator<NumberedLine, void, undefined> {
  const decoder = createUtf8Decoder();
  let rest = '';
  let number = 0;
  const numbered = (line: string): NumberedLine | undefined => {
    number += 1;
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    return text.trim() === '' ? undefined : { text, number };
  };
  try {
    for await (const chunk of input.open()) {
      const pieces = (rest + decoder.write(chunk)).split('\n');
      rest = pieces.pop() ?? '';
      if (rest.length > LONGEST_LINE) throw tooLong(input, number + 1);
      for (const piece of pieces) {
        const line = numbered(piece);
        if (line !== undefined) yield line;
      }
    }
    const last = numbered(rest + decoder.end());
    if (last !== undefined) yield last;
  } catch (error) {
    throw unreadable(input.name, error);
  }
}

/**
 * The whole text of a small file.
 * @throws Failure (usage)
 */
export async function wholeText(input: InputFile, longestBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input.open()) {
    size += chunk.length;
    // What is longer is longer in characters too; it is not read to its end.
    if (size > longestBytes)
      throw usageFailure(
        `${display(input.name)} is longer than one request takes`,
        'Cut it into parts.',
      );
    parts.push(chunk);
  }
  try {
    return decodeUtf8(Buffer.concat(parts));
  } catch (error) {
    throw unreadable(input.name, error);
  }
}

function tooLong({ name }: InputFile, line: number): Failure {
  return usageFailure(
    `${display(name)}, line ${line} is longer than ${LONGEST_LINE} characters`,
    'Cut it into parts.',
  );
}

/** The failure that an error means which came while an input was read. */
export function unreadable(name: string, error: unknown): unknown {
  if (error instanceof Failure) return error;
  const shown = display(name);
  if (error instanceof TextEncodingError) {
    return usageFailure(
      `${shown} is ${error.message}`,
      'Save it as UTF-8, or convert it: iconv -f … -t UTF-8.',
    );
  }
  switch (errnoOf(error)) {
    case undefined:
      return error;
    case 'ENOENT':
      return usageFailure(`there is no file ${shown}`);
    case 'EISDIR':
      return usageFailure(`${shown} is a folder, not a text file`);
    case 'EACCES':
      return usageFailure(`${shown} may not be read`);
    default:
      return usageFailure(`${shown} cannot be read: ${reasonOf(error, path.dirname(name))}`);
  }
}
