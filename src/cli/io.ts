import { fstatSync, readSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { reasonOf } from '../durable/file-failures.ts';
import { Failure } from '../errors/failure.ts';
import { display } from '../text/display.ts';
import { wantsColor, loadPaint, PLAIN } from './render/style.ts';
import type { GlobalOptions } from './flags/global.ts';
import type { TerminalStyle } from './render/style.ts';

/** In code points. */
const LONGEST_SENTENCE = 4_000;

/** The three streams with the rules of the contract's section 3: who may write what, and when. */
export interface Io {
  readonly stdin: () => Input;
  readonly stdinIsTerminal: () => boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** How stdout looks. */
  readonly out: TerminalStyle;
  /** How stderr looks. */
  readonly err: TerminalStyle;
  /** Whether moving progress may be shown. */
  readonly showsProgress: boolean;
  /** Where it is shown; nothing else writes to it. */
  readonly progressStream: Output;
  /** Each removes a bar or spinner and shows the cursor again; called before the process ends at once. */
  readonly cleanups: Set<() => void>;
  /** Throws a Failure (output) when stdout is closed; called before anything is billed that goes there. */
  requireStdout(): void;
  /** Lines of a text that the screen can show at once; infinite where no pager may be started. */
  readonly pageLines: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to stdout and waits for a slow reader. */
  writeOut(chunk: string | Uint8Array): Promise<void>;
  /** A sentence on stderr that `--quiet` silences. */
  notice(sentence: string): void;
  /** A sentence on stderr that nothing silences. */
  warn(sentence: string): void;
  /** Returns a sentence as `notice` and `warn` print it: escaped and wrapped. */
  shown(sentence: string): string;
  /** Sentences on stderr that nothing silences, safe already, and cut where a terminal ends. */
  explain(text: string): void;
  /** A line on stderr as it is, for programs and logs. */
  complain(line: string): void;
  /** Text on stderr that an answer is typed behind. */
  ask(question: string): void;
}

export interface IoInputs {
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly globals: Pick<GlobalOptions, 'color' | 'json' | 'progress' | 'quiet'>;
}

export async function createIo({ streams, env, globals }: IoInputs): Promise<Io> {
  const { stdin, stdout, stderr } = streams;
  const stderrIsTerminal = stderr.isTTY === true;
  const wrap = stderrIsTerminal ? await loadWrap(widthOf(stderr)) : asItIs;
  const lookOf = async (stream: typeof stdout): Promise<TerminalStyle> => {
    const colored = wantsColor({ choice: globals.color, env, isTerminal: stream.isTTY === true });
    return {
      columns: widthOf(stream),
      paint: colored ? await loadPaint() : PLAIN,
    };
  };
  return {
    stdin,
    stdinIsTerminal: () => stdin().isTTY === true,
    stdoutIsTerminal: stdout.isTTY === true,
    stderrIsTerminal,
    out: await lookOf(stdout),
    err: await lookOf(stderr),
    showsProgress:
      isAttended(stderr, env) &&
      globals.progress &&
      globals.quiet !== true &&
      globals.json !== true,
    progressStream: stderr,
    cleanups: new Set(),
    pageLines: isAttended(stdout, env) && globals.json !== true ? screenLines(stdout) : Infinity,
    env,
    requireStdout: () => {
      if (streams.stdoutIsClosed()) throw closedStdout();
    },
    writeOut: (chunk) => write(stdout, chunk),
    ...sentencesOn(stderr, wrap, globals.quiet === true),
    ask: (question) => {
      stderr.write(question);
    },
  };
}

function sentencesOn(
  stderr: Output,
  wrap: (text: string) => string,
  isQuiet: boolean,
): Pick<Io, 'complain' | 'explain' | 'notice' | 'shown' | 'warn'> {
  const complain = (line: string): void => {
    stderr.write(`${line}\n`);
  };
  const shown = (sentence: string): string => wrap(display(sentence, { max: LONGEST_SENTENCE }));
  return {
    notice: (sentence) => {
      if (!isQuiet) complain(shown(sentence));
    },
    warn: (sentence) => complain(shown(sentence)),
    shown,
    explain: (text) => complain(wrap(text)),
    complain,
  };
}

/** Returns whether a person reads the stream: a terminal, and not in CI. */
function isAttended({ isTTY }: Output, env: IoInputs['env']): boolean {
  return isTTY === true && env['TERM'] !== 'dumb' && !isSet(env['CI']);
}

/** The prompt of the shell takes one line. */
function screenLines({ rows = 0 }: Output): number {
  return rows > 1 ? rows - 1 : Infinity;
}

/** Returns the columns of a terminal, else infinity. */
function widthOf({ columns, isTTY }: Output): number {
  return isTTY === true ? (columns ?? Infinity) : Infinity;
}

function asItIs(text: string): string {
  return text;
}

async function loadWrap(columns: number): Promise<(text: string) => string> {
  const { wrappedText } = await import('./render/table.ts');
  return (text) => wrappedText(text, columns);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

/** A stream that may be a terminal, as Node's own standard streams are. */
export type Input = Readable & {
  readonly isTTY?: boolean;
  /** Of a terminal: without echo, and every key at once. */
  readonly setRawMode?: (on: boolean) => unknown;
};
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface Streams {
  /** A function, since the mere touch of `process.stdin` opens it. */
  readonly stdin: () => Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether stdout was closed when the program began, so that what is written to it is gone. */
  readonly stdoutIsClosed: () => boolean;
}

/** The width of a terminal that does not know its own, as one of `script` or of a serial line: it says 0. */
const DEFAULT_COLUMNS = 80;

/**
 * Prepares the output streams for use: one without an error listener ends the process with a stack, and a
 * terminal that says it has no columns makes libraries count its lines for ever. Writes to stdout report
 * their errors through their callbacks; a stderr that nobody reads must not end the work.
 */
export function prepareOutputs({ stderr, stdout }: Pick<Streams, 'stderr' | 'stdout'>): void {
  for (const stream of [stdout, stderr]) {
    stream.on('error', () => {});
    if (stream.isTTY === true) mendWidth(stream);
  }
}

/** The only place that decides how wide a terminal is. Node assigns the width anew at each resize. */
function mendWidth(stream: Output): void {
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

/** The reader of stdout went away (`| head`): the run ends quietly with 0. */
export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';
}

/**
 * Writes one chunk to stdout and waits until it was taken, so that a slow reader slows the writer.
 * @throws BrokenPipe when the other end was closed; Failure (output) when it cannot be written
 */
export function write(stdout: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(chunk, (error) => {
      if (error === null || error === undefined) resolve();
      else
        reject(
          isBrokenPipe(error) ? new BrokenPipe('the reader of stdout is gone') : unwritable(error),
        );
    });
  });
}

/**
 * Whether a standard stream was closed by whoever started the program. Node puts the null device in its
 * place, open for reading too; `> /dev/null` opens it for writing alone.
 */
export function wasClosed(fd: number): boolean {
  try {
    if (fstatSync(fd).rdev !== statSync('/dev/null').rdev) return false;
    readSync(fd, Buffer.alloc(1));
    return true;
  } catch {
    return false;
  }
}

/** What is paid for cannot go to a closed stdout. */
export function closedStdout(): Failure {
  return new Failure('stdout is closed', {
    code: 'output',
    exit: 'output',
    hint: 'Name a file with -o, or use `> /dev/null` to discard the output. Nothing was sent.',
  });
}

function isBrokenPipe(error: Error): boolean {
  return 'code' in error && error.code === 'EPIPE';
}

function unwritable(error: Error): Failure {
  return new Failure(`cannot write to stdout: ${reasonOf(error, '.')}`, {
    code: 'output',
    exit: 'output',
    hint: 'Write to another place, or fix the target of stdout.',
    cause: error,
  });
}
