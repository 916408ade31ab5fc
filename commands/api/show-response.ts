import { STATUS_CODES } from 'node:http';
import type { ApiResponse } from '../../src/api/response.ts';
import { readText, parseJson } from '../../src/api/response.ts';
import type { Io } from '../../src/cli/io.ts';
import type { Billed } from '../../src/errors/failure.ts';
import { Failure } from '../../src/errors/failure.ts';
import {
  display,
  displayText,
  toJson,
  withoutCommands,
  withoutCommandsInJson,
  withoutControlBytes,
} from '../../src/text/display.ts';

// Longer JSON is unreadable even if it is formatted.
const MOST_JSON_BYTES = 16 * 1024 * 1024;
const TEXT = /^text\/|^application\/(xml|javascript|x-ndjson|jsonl)$|\+xml$/;
const JSON_TYPE = /^application\/([\w.-]+\+)?json$/;

export interface ShowOptions {
  /** True to print the status line and the headers before the body. */
  readonly include: boolean;
  /** Billing outcome of the request, reported if the response cannot be shown. */
  readonly billed: Billed;
}

/**
 * Writes a response to stdout. A file or a pipe gets the bytes unchanged; in CI, log commands and control characters in
 * the text of a pipe are escaped. A terminal gets formatted, escaped text.
 * @throws Failure of kind `output` for bytes that a terminal cannot show
 * @throws Failure of kind `bad_answer` for a truncated body
 */
export async function showResponse(
  response: ApiResponse,
  io: Io,
  options: ShowOptions,
): Promise<void> {
  if (options.include) await io.writeOut(headOf(response, io.stdoutIsTerminal));
  const { contentType = '' } = response.headers;
  if (!io.stdoutIsTerminal) {
    const escape = JSON_TYPE.test(contentType) ? withoutCommandsInJson : textInLog;
    const isText = JSON_TYPE.test(contentType) || TEXT.test(contentType);
    const bytes = io.isCiLog && isText ? escapedLines(response.body, escape) : response.body;
    for await (const chunk of bytes) await io.writeOut(chunk);
    return;
  }
  if (isEmpty(response)) return;
  if (JSON_TYPE.test(contentType)) {
    const text = await readText(response, MOST_JSON_BYTES);
    const value = parseJson(text);
    await (value === undefined
      ? writeLines(io, [Buffer.from(text)])
      : io.writeOut(`${toJson(value, true)}\n`));
  } else if (TEXT.test(contentType)) {
    await writeLines(io, response.body);
  } else {
    response.discard();
    throw notForTerminals(response, options.billed);
  }
}

function textInLog(text: string): string {
  return withoutControlBytes(withoutCommands(text));
}

// Decoding each byte as a character keeps the other bytes unchanged, whatever their encoding.
async function* escapedLines(
  bytes: AsyncIterable<Uint8Array>,
  escape: (text: string) => string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let held = '';
  for await (const chunk of bytes) {
    held += Buffer.from(chunk).toString('latin1');
    const isLong = held.length > LONGEST_LINE;
    const end = Math.max(held.lastIndexOf('\n') + 1, isLong ? held.length - LONGEST_COMMAND : 0);
    if (end === 0) continue;
    yield Buffer.from(escape(held.slice(0, end)), 'latin1');
    held = held.slice(end);
  }
  yield Buffer.from(escape(held), 'latin1');
}

const LONGEST_COMMAND = 32;

function isEmpty({ contentLength, framing }: ApiResponse): boolean {
  return framing === 'none' || contentLength === 0;
}

async function writeLines(
  io: Io,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  for await (const line of safeLines(bytes)) await io.writeOut(line);
}

function headOf({ headers, status }: ApiResponse, isTerminal: boolean): string {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(),
    ...[...headers.all].map(([name, value]) => `${name}: ${isTerminal ? display(value) : value}`),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function notForTerminals({ headers, requestId, status }: ApiResponse, billed: Billed): Failure {
  const type = headers.contentType ?? 'of unknown type';
  return new Failure(`the response is ${type}, which a terminal cannot show`, {
    code: 'output',
    exit: 'output',
    hint: 'Redirect stdout to a file: foley api … > response',
    billed,
    status,
    requestId,
  });
}

// Longer lines are printed in pieces.
const LONGEST_LINE = 16_384;

/**
 * Yields the lines of a text response as they arrive, escaped for a terminal. Keeps tabs, and replaces invalid UTF-8.
 */
export async function* safeLines(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of bytes) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) yield `${safe(line)}\n`;
    if (held.length > LONGEST_LINE) {
      yield safe(held);
      held = '';
    }
  }
  held += decoder.decode();
  if (held !== '') yield `${safe(held)}\n`;
}

function safe(line: string): string {
  return displayText(line.replace(/\r$/, ''));
}
