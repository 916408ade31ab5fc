import { fstatSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { hasErrno, reasonOf } from '../durable/file-failures.ts';
import { Failure } from '../errors/failure.ts';
import { display, withoutCommands, withoutControls } from '../text/display.ts';
import { wantsColor, loadPaint, PLAIN } from './render/style.ts';
import type { GlobalOptions } from './flags/global.ts';
import type { TerminalStyle } from './render/style.ts';

const LONGEST_SENTENCE = 4_000;

export interface Io {
  readonly stdin: () => InputStream;
  readonly stdinIsTerminal: () => boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  readonly out: TerminalStyle;
  readonly err: TerminalStyle;
  /** Whether stderr may show animated progress. */
  readonly showsProgress: boolean;
  /** The stderr stream, for content that must not be escaped or wrapped, such as progress bars and images. */
  readonly progressStream: OutputStream;
  /** Functions that remove a progress display and show the cursor, called before the process ends abruptly. */
  readonly cleanups: Set<() => void>;
  /**
   * Checks that stdout is open. Called before a request whose result goes to stdout.
   * @throws Failure of kind `output` if stdout is closed
   */
  requireStdout(): void;
  /**
   * Number of lines that fit on the screen. Longer output goes through a pager. Infinity if no pager may be started.
   */
  readonly pageLines: number;
  /** Whether a pager uses the terminal. While it does, Ctrl-C goes to the pager. */
  readonly paging: { isActive: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Whether a CI service may read stdout as its log. `writeOut` then escapes log commands and control characters in
   * strings.
   */
  readonly isCiLog: boolean;
  /** Writes to stdout. Resolves when the reader of stdout can accept more. */
  writeOut(chunk: string | Uint8Array): Promise<void>;
  /** Returns the file that stdout is redirected to; undefined if earlier bytes cannot be overwritten. */
  readonly stdoutFile: () => StdoutFile | undefined;
  /** Prints a sentence on stderr, except with `--quiet`. */
  notice(sentence: string): void;
  /** Prints a sentence on stderr, even with `--quiet`. */
  warn(sentence: string): void;
  /** Returns a sentence as `notice` and `warn` print it: escaped and wrapped. */
  shown(sentence: string): string;
  /** Wraps text that is already escaped, and prints it on stderr. */
  explain(text: string): void;
  /** Prints a line on stderr unchanged, for programs and logs. */
  complain(line: string): void;
  /** Prints a question on stderr, without a line break at the end. */
  ask(question: string): void;
}

/** The file that stdout is redirected to. */
export interface StdoutFile {
  /** Overwrites bytes. The position counts from the first byte that this process wrote. */
  overwrite(position: number, bytes: Uint8Array): void;
}

/** Creates the input and output functions of a command, configured by flags and environment variables. */
export async function createIo({
  streams,
  env,
  globals,
}: {
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly globals: GlobalOptions;
}): Promise<Io> {
  const { stdin, stdout, stderr } = streams;
  const stderrIsTerminal = stderr.isTTY === true;
  const wrap = await loadWrap(stderr);
  const styleOf = async (stream: typeof stdout): Promise<TerminalStyle> => {
    const colored = wantsColor({ choice: globals.color, env, isTerminal: stream.isTTY === true });
    return { columns: widthOf(stream), paint: colored ? await loadPaint() : PLAIN };
  };
  const isCiLog = (env['CI'] ?? '') !== '' && !streams.stdoutIsFile();
  const complain = (line: string): void => void stderr.write(`${line}\n`);
  const shown = (sentence: string): string => wrap(display(sentence, { max: LONGEST_SENTENCE }));
  const out = await styleOf(stdout);
  const inLog = (text: string): string =>
    withoutControls(withoutCommands(text), out.paint !== PLAIN);
  return {
    stdin,
    stdinIsTerminal: () => stdin().isTTY === true,
    stdoutIsTerminal: stdout.isTTY === true,
    stderrIsTerminal,
    out,
    err: await styleOf(stderr),
    showsProgress:
      isAttended(stderr, env) &&
      globals.progress &&
      globals.quiet !== true &&
      globals.json !== true,
    progressStream: stderr,
    cleanups: new Set(),
    pageLines:
      isAttended(stdout, env) && globals.pager && globals.json !== true
        ? screenLines(stdout)
        : Infinity,
    paging: { isActive: false },
    env,
    requireStdout: () => {
      if (streams.stdoutIsClosed()) throw closedStdout();
    },
    isCiLog,
    writeOut: (chunk) => write(stdout, isCiLog && typeof chunk === 'string' ? inLog(chunk) : chunk),
    stdoutFile: streams.stdoutFile,
    notice: (sentence) => {
      if (globals.quiet !== true) complain(shown(sentence));
    },
    warn: (sentence) => complain(shown(sentence)),
    shown,
    explain: (text) => complain(wrap(text)),
    complain,
    ask: (question) => void stderr.write(question),
  };
}

function isAttended({ isTTY }: OutputStream, env: Io['env']): boolean {
  return isTTY === true && env['TERM'] !== 'dumb' && (env['CI'] ?? '') === '';
}

// One line is for the shell prompt.
function screenLines({ rows = 0 }: OutputStream): number {
  return rows > 1 ? rows - 1 : Infinity;
}

function widthOf({ columns, isTTY }: OutputStream): number {
  return isTTY === true ? (columns ?? Infinity) : Infinity;
}

async function loadWrap(stream: OutputStream): Promise<(text: string) => string> {
  if (stream.isTTY !== true) return (text) => text;
  const { wrappedText } = await import('./render/table.ts');
  return (text) => wrappedText(text, widthOf(stream));
}

/** An input stream that may be a terminal, such as `process.stdin`. */
export type InputStream = Readable & {
  readonly isTTY?: boolean;
  /** Switches raw mode on or off. In raw mode, the terminal does not echo input and delivers each key at once. */
  readonly setRawMode?: (on: boolean) => unknown;
};
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Streams {
  /** Returns stdin. This is a function because reading the property `process.stdin` opens the stream. */
  readonly stdin: () => InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Returns whether stdout was closed when the program started. */
  readonly stdoutIsClosed: () => boolean;
  /** Returns whether stdout is redirected to a regular file. */
  readonly stdoutIsFile: () => boolean;
  readonly stdoutFile: Io['stdoutFile'];
}

// For a terminal that reports 0 columns, such as a serial connection.
const DEFAULT_COLUMNS = 80;

/** Prepares the output streams: ignores error events, and corrects the width of a terminal that reports 0 columns. */
export function prepareOutputs({ stderr, stdout }: Streams): void {
  for (const stream of [stdout, stderr]) {
    // Without a listener, an error event ends the process. Writes to stdout report errors through callbacks, and
    // a closed stderr is harmless.
    stream.on('error', () => {});
    // A width of 0 makes libraries loop.
    if (stream.isTTY === true) correctWidth(stream);
  }
}

// A setter, because Node assigns the width at each resize.
function correctWidth(stream: OutputStream): void {
  let columns = stream.columns ?? 0;
  Object.defineProperty(stream, 'columns', {
    configurable: true,
    enumerable: true,
    get: () => (columns > 0 ? columns : DEFAULT_COLUMNS),
    set: (latest: number) => {
      columns = latest;
    },
  });
}

/** Thrown when the reader of stdout closes it, as in `| head`. foley then exits with code 0 and without a message. */
export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';
}

/**
 * Writes one chunk to stdout and waits until the reader can accept more.
 * @throws BrokenPipe if the reader closed stdout; Failure of kind `output` for other errors
 */
export function write(stdout: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(chunk, (error) => {
      if (error === null || error === undefined) resolve();
      else
        reject(hasErrno(error, 'EPIPE') ? new BrokenPipe('stdout was closed') : unwritable(error));
    });
  });
}

/** Returns whether a file descriptor is a regular file. */
export function isRegularFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** Returns whether a standard stream was closed when the program started. */
export function wasClosed(fd: number): boolean {
  try {
    // Node replaces a closed stream with the null device, opened for reading and writing; `> /dev/null` opens it
    // for writing only.
    if (fstatSync(fd).rdev !== statSync('/dev/null').rdev) return false;
    readSync(fd, Buffer.alloc(1));
    return true;
  } catch {
    return false;
  }
}

/** Creates the failure for output to a closed stdout. */
export function closedStdout(): Failure {
  return new Failure('stdout is closed', {
    code: 'output',
    exit: 'output',
    hint: 'Name a file with -o, or use `> /dev/null` to discard the output. Nothing was sent.',
  });
}

function unwritable(error: Error): Failure {
  return new Failure(`cannot write to stdout: ${reasonOf(error, '.')}`, {
    code: 'output',
    exit: 'output',
    hint: 'Write to a file with -o, or check the file or program that stdout is redirected to.',
    cause: error,
  });
}

const APPEND = 0o2000;

/**
 * Returns the file that a descriptor writes to; undefined for a pipe, a device, and a file that is only appended to.
 * Called before the first byte is written.
 */
export function redirectedFile(fd: number): StdoutFile | undefined {
  const stats = fstatSync(fd);
  if (!stats.isFile()) return undefined;
  const { isAppended, start } = descriptorOf(fd) ?? { isAppended: stats.size > 0, start: 0 };
  if (isAppended) return undefined;
  return {
    overwrite: (position, bytes) => void writeSync(fd, bytes, 0, bytes.length, start + position),
  };
}

// Linux ignores the position of a write to a file that was opened with `>>`. Other systems have no such file.
function descriptorOf(fd: number) {
  let lines: string;
  try {
    lines = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
  } catch {
    return undefined;
  }
  const flags = Number.parseInt(/^flags:\s*(\d+)$/m.exec(lines)?.[1] ?? '', 8);
  const start = Number(/^pos:\s*(\d+)$/m.exec(lines)?.[1]);
  return { isAppended: (flags & APPEND) !== 0, start };
}
