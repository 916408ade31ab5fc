import { StringDecoder } from 'node:string_decoder';
import type { Io } from './io.ts';
import type { Input } from './streams.ts';

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
