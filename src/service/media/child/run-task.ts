import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import type { Clock } from '../../../system/clock.ts';
import type { MediaTaskName } from './entry.ts';
import type { TaskCall } from './messages.ts';
import { MediaTaskError, TaskMessage } from './messages.ts';

export interface TaskOptions<Schema extends TSchema> {
  readonly result: Schema;
  /** Milliseconds until the process is killed. */
  readonly deadlineMs: number;
  /** Maximum heap size of the process in megabytes; default 256. */
  readonly memoryMb?: number | undefined;
  readonly signal: AbortSignal;
  /** Called with the progress, from 0 (start) to 1 (end). */
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/**
 * Runs a task in a child process. If the signal is aborted, kills the process.
 * @throws MediaTaskError when the task fails, takes too long or crashes
 * @throws the signal's abort reason after an abort
 */
export type RunTask = <Schema extends TSchema>(
  task: MediaTaskName,
  order: unknown,
  options: TaskOptions<Schema>,
) => Promise<Static<Schema>>;

interface TaskRunnerDeps {
  readonly clock: Clock;
  /** The bundled script of the child process. */
  readonly file: URL;
  // The complete environment of the child: it reads untrusted files, so it gets no secrets.
  readonly env: Readonly<Record<string, string>>;
}

const MEMORY_MB = 256;

/** Returns a function that runs each task in a new child process. The process is killed when the task ends. */
export function createTaskRunner({ clock, env, file }: TaskRunnerDeps): RunTask {
  return async (task, order, options) => {
    const { deadlineMs, memoryMb = MEMORY_MB, result, signal } = options;
    signal.throwIfAborted();
    const { fork } = await import('node:child_process');
    const child = fork(fileURLToPath(file), [], {
      execArgv: [`--max-old-space-size=${memoryMb}`],
      env,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const kill = (): void => void child.kill('SIGKILL');
    let isLate = false;
    const stopClock = clock.after(deadlineMs, () => {
      isLate = true;
      kill();
    });
    signal.addEventListener('abort', kill, { once: true });
    try {
      const call: TaskCall = { task, order, deadlineMs };
      const given = await resultOf(child, call, options.onProgress);
      if (Check(result, given)) return given;
      throw new MediaTaskError('failed', `the task ${task} returned an invalid result`);
    } catch (error) {
      signal.throwIfAborted();
      if (isLate) throw new MediaTaskError('timeout', `it took more than ${deadlineMs} ms`, error);
      throw error;
    } finally {
      stopClock();
      signal.removeEventListener('abort', kill);
      kill();
    }
  };
}

function resultOf(
  child: ChildProcess,
  call: TaskCall,
  onProgress: TaskOptions<TSchema>['onProgress'],
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: unknown) => {
      if (!Check(TaskMessage, message))
        reject(new MediaTaskError('failed', 'it sent an unknown message'));
      else if (message.type === 'progress') onProgress?.(message.fraction);
      else if (message.type === 'done') resolve(message.result);
      else {
        const { errno: code, message: what, reason } = message;
        const cause = code === undefined ? undefined : Object.assign(new Error(what), { code });
        reject(new MediaTaskError(reason, what, cause));
      }
    });
    // Several errors may follow a failed start; without a listener they would end the service.
    child.on('error', (error) => reject(new MediaTaskError('failed', error.message, error)));
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
      reject(new MediaTaskError('died', `its process ended ${how}`));
    };
    // The exit event may precede the last message; the channel closes after it.
    child.once('close', end);
    child.once('exit', (code, signal) => {
      if (child.killed) end(code, signal);
    });
    // Before the spawn there may be no channel.
    child.once('spawn', () => child.send(call));
  });
}
