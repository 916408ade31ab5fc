import { display } from '../text/display.ts';
import { wantsColor } from './color.ts';
import type { GlobalOptions } from './global-options.ts';
import type { Look } from './look.ts';
import { loadPaint, PLAIN } from './look.ts';
import type { Input, Output, Streams } from './streams.ts';
import { closedStdout, write } from './streams.ts';

/** In code points: a service may say more than anybody reads. */
const LONGEST_SENTENCE = 4_000;

/** The three streams with the rules of the contract's section 3: who may write what, and when. */
export interface Io {
  readonly stdin: () => Input;
  readonly stdinIsTerminal: () => boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** How stdout looks. */
  readonly out: Look;
  /** How stderr looks. */
  readonly err: Look;
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
  /** How both look there: safe to show, and cut between words where a terminal ends. */
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
  const lookOf = async (stream: typeof stdout): Promise<Look> => {
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

/** Whether a person looks at a stream: nobody reads what CI shows page by page. */
function isAttended({ isTTY }: Output, env: IoInputs['env']): boolean {
  return isTTY === true && env['TERM'] !== 'dumb' && !isSet(env['CI']);
}

/** The prompt of the shell takes one line. */
function screenLines({ rows = 0 }: Output): number {
  return rows > 1 ? rows - 1 : Infinity;
}

/** In columns; infinite where nobody looks. */
function widthOf({ columns, isTTY }: Output): number {
  return isTTY === true ? (columns ?? Infinity) : Infinity;
}

function asItIs(text: string): string {
  return text;
}

async function loadWrap(columns: number): Promise<(text: string) => string> {
  const { wrappedText } = await import('./wrapped-text.ts');
  return (text) => wrappedText(text, columns);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
