import { StringDecoder } from 'node:string_decoder';
import { usageFailure } from '../errors/failure.ts';
import type { Context } from './command.ts';
import type { Io } from './io.ts';
import { Interrupted } from './signals.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const CTRL_U = '\x15';
const BACKSPACE = '\b';
const DELETE = '\x7f';
// A terminal sends these sequences for keys such as arrows, and around pasted text.
const ESCAPE_SEQUENCE = /\x1b(\[[0-9;?]*[ -/]*[@-~]|[O@-Z\\-_].?)?/g;

interface Terminal {
  readonly io: Pick<Io, 'ask' | 'stdin'>;
  readonly signal: AbortSignal;
}

/** Returns whether foley can ask the user: both stdin and stderr are terminals. */
export function canAsk(io: Io): boolean {
  return io.stderrIsTerminal && io.stdinIsTerminal();
}

/**
 * Prompts for a secret without echo. If the user presses only Enter or Ctrl-D, returns an empty text. On abort, throws
 * the signal's abort reason.
 * @throws Interrupted for Ctrl-C
 */
export async function askSecret(question: string, { io, signal }: Terminal): Promise<string> {
  const terminal = io.stdin();
  let typed: readonly string[] = [];
  // Before the question, so that no key is echoed.
  terminal.setRawMode?.(true);
  io.ask(question);
  try {
    await readUntil({ io, signal }, (text) => {
      for (const key of text.replaceAll(ESCAPE_SEQUENCE, '')) {
        if (key === CTRL_C) throw new Interrupted('SIGINT');
        if (key === '\r' || key === '\n' || key === CTRL_D) return true;
        typed = afterKey(typed, key);
      }
      return false;
    });
    return typed.join('');
  } finally {
    terminal.setRawMode?.(false);
    terminal.pause();
    io.ask('\n');
  }
}

function afterKey(typed: readonly string[], key: string): readonly string[] {
  if (key === DELETE || key === BACKSPACE) return typed.slice(0, -1);
  if (key === CTRL_U) return [];
  return key < ' ' ? typed : [...typed, key];
}

/**
 * Refuses to go on where nobody can be asked for confirmation.
 * @param whatYesDoes what a command with `--yes` does without asking, such as `delete the voice`
 * @throws Failure of kind `usage`
 */
export function requireAnswers({ globals, io }: Context, whatYesDoes: string): void {
  if (globals.input && canAsk(io)) return;
  throw usageFailure(
    globals.input
      ? 'cannot ask for confirmation without a terminal'
      : '--no-input forbids asking for confirmation',
    `Add --yes to ${whatYesDoes} without asking.`,
  );
}

/**
 * Asks a yes-or-no question; only `y` and `yes` mean yes.
 * @throws the signal's abort reason
 */
export async function confirm(question: string, terminal: Terminal): Promise<boolean> {
  return YES.test((await askLine(`${question} [y/N] `, terminal)) ?? '');
}

/**
 * Asks a yes-or-no question; Enter, `y` and `yes` mean yes, `n` and `no` mean no. Returns undefined for anything else.
 * @throws the signal's abort reason
 */
export async function confirmByDefault(
  question: string,
  terminal: Terminal,
): Promise<boolean | undefined> {
  const answer = await askLine(`${question} [Y/n] `, terminal);
  if (answer === undefined) return undefined;
  if (answer === '' || YES.test(answer)) return true;
  return /^no?$/i.test(answer) ? false : undefined;
}

const YES = /^y(es)?$/i;

// Returns undefined if the input ends within the line.
async function askLine(prompt: string, { io, signal }: Terminal): Promise<string | undefined> {
  let answer = '';
  io.ask(prompt);
  try {
    await readUntil({ io, signal }, (text) => {
      answer += text;
      return answer.includes('\n');
    });
    if (answer.includes('\n')) return answer.split('\n', 1).join('').trim();
    io.ask('\n');
    return undefined;
  } finally {
    io.stdin().pause();
  }
}

function readUntil({ io, signal }: Terminal, isComplete: (text: string) => boolean): Promise<void> {
  const terminal = io.stdin();
  const decoder = new StringDecoder('utf8');
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      terminal.off('data', onData).off('end', onEnd).off('error', onError);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onEnd = (): void => finish(resolve);
    const onError = (error: unknown): void => finish(() => reject(error));
    const onAbort = (): void => onError(signal.reason);
    const onData = (chunk: Buffer): void => {
      try {
        if (isComplete(decoder.write(chunk))) onEnd();
      } catch (error) {
        onError(error);
      }
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    terminal.on('data', onData).on('end', onEnd).on('error', onError);
  });
}
