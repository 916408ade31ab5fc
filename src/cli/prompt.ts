import { StringDecoder } from 'node:string_decoder';
import type { Io, Input } from './io.ts';
import { Interrupted } from './signals.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const CTRL_U = '\x15';
const BACKSPACE = '\b';
const DELETE = '\x7f';
/** Arrows and the like, and the marks around what is pasted. */
const ESCAPE_SEQUENCE = /\x1b(\[[0-9;?]*[ -/]*[@-~]|[O@-Z\\-_].?)?/g;

/** Returns whether a prompt can be shown and answered on a terminal. */
export function canAsk(io: Pick<Io, 'stderrIsTerminal' | 'stdinIsTerminal'>): boolean {
  return io.stderrIsTerminal && io.stdinIsTerminal();
}

/**
 * Asks for a secret at the terminal; nothing of it is shown. Empty when the person only pressed
 * Enter or Ctrl-D.
 * @throws Interrupted for Ctrl-C, or the reason of the signal
 */
export async function askSecret(
  question: string,
  { io, signal }: { readonly io: Pick<Io, 'ask' | 'stdin'>; readonly signal: AbortSignal },
): Promise<string> {
  const terminal = io.stdin();
  // Before the question, so that a key pressed at once is not shown either.
  terminal.setRawMode?.(true);
  io.ask(question);
  try {
    return await readHidden(terminal, signal);
  } finally {
    terminal.setRawMode?.(false);
    terminal.pause();
    io.ask('\n');
  }
}

function readHidden(terminal: Input, signal: AbortSignal): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let typed: readonly string[] = [];
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      terminal.off('data', onData).off('end', onEnd).off('error', onError);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => finish(() => reject(reasonOf(signal)));
    const onError = (error: Error): void => finish(() => reject(error));
    const onEnd = (): void => finish(() => resolve(typed.join('')));
    const onData = (chunk: Buffer): void => {
      for (const key of decoder.write(chunk).replaceAll(ESCAPE_SEQUENCE, '')) {
        if (key === CTRL_C) return finish(() => reject(new Interrupted('SIGINT')));
        if (key === '\r' || key === '\n' || key === CTRL_D) return onEnd();
        typed = afterKey(typed, key);
      }
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    terminal.on('data', onData).on('end', onEnd).on('error', onError);
  });
}

function afterKey(typed: readonly string[], key: string): readonly string[] {
  if (key === DELETE || key === BACKSPACE) return typed.slice(0, -1);
  if (key === CTRL_U) return [];
  return key < ' ' ? typed : [...typed, key];
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('stopped');
}

/**
 * Asks a question at the terminal that is answered with yes or no; only `y` and `yes` mean yes, and the
 * end of the input does not.
 * @throws the reason of the signal
 */
export async function confirm(
  question: string,
  { io, signal }: { readonly io: Pick<Io, 'ask' | 'stdin'>; readonly signal: AbortSignal },
): Promise<boolean> {
  const terminal = io.stdin();
  io.ask(`${question} [y/N] `);
  try {
    const answer = await readLine(terminal, signal);
    if (!answer.endsWith('\n')) io.ask('\n');
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.pause();
  }
}

/** A line with its end; without one when the input ends. */
function readLine(terminal: Input, signal: AbortSignal): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let typed = '';
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      terminal.off('data', onData).off('end', onEnd).off('error', onError);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => finish(() => reject(signal.reason));
    const onError = (error: Error): void => finish(() => reject(error));
    const onEnd = (): void => finish(() => resolve(typed));
    const onData = (chunk: Buffer): void => {
      typed += decoder.write(chunk);
      const end = typed.indexOf('\n');
      if (end !== -1) finish(() => resolve(typed.slice(0, end + 1)));
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    terminal.on('data', onData).on('end', onEnd).on('error', onError);
  });
}
