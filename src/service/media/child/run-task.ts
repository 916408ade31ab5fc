import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import type { Clock } from '../../../effects/clock.ts';
import { MediaTaskError } from './media-task-error.ts';
import type { TaskCall } from './messages.ts';
import { TaskNews } from './messages.ts';
import type { MediaTaskName } from './tasks.ts';

export interface TaskOptions<Schema extends TSchema> {
  /** What the task gives. */
  readonly result: Schema;
  /** After so long its process is killed. */
  readonly deadlineMs: number;
  /** The heap that its process may have. */
  readonly memoryMb?: number | undefined;
  /** Its process is killed when this is aborted. */
  readonly signal: AbortSignal;
  /** From 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/**
 * Does a task in a process of its own.
 * @throws MediaTaskError when it fails, takes too long or dies; the reason of the signal once that is
 * aborted
 */
export type RunTask = <Schema extends TSchema>(
  task: MediaTaskName,
  order: unknown,
  options: TaskOptions<Schema>,
) => Promise<Static<Schema>>;

export interface TaskRunnerDeps {
  readonly clock: Clock;
  /** The bundled program of the child. */
  readonly file: URL;
  /** All that it has of an environment: it reads what strangers made, and gets no secrets. */
  readonly env: Readonly<Record<string, string>>;
}

const MEMORY_MB = 256;

/** Runs tasks, each in a child process that is killed when it is over or in the way. */
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
      throw new MediaTaskError('failed', `the task ${task} gave something else than it should`);
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

/** The error of the system that made a task fail, as it was in the child. */
function systemErrorOf({ errno, message }: { errno?: string; message: string }) {
  return errno === undefined ? undefined : Object.assign(new Error(message), { code: errno });
}

function resultOf(
  child: ChildProcess,
  call: TaskCall,
  onProgress: TaskOptions<TSchema>['onProgress'],
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.on('message', (news: unknown) => {
      if (!Check(TaskNews, news)) reject(new MediaTaskError('failed', 'it told nonsense'));
      else if (news.type === 'progress') onProgress?.(news.fraction);
      else if (news.type === 'done') resolve(news.result);
      else reject(new MediaTaskError(news.reason, news.message, systemErrorOf(news)));
    });
    // More than once where it cannot be begun; what nobody listens to would end the service.
    child.on('error', (error) => reject(new MediaTaskError('failed', error.message, error)));
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
      reject(new MediaTaskError('died', `its process ended ${how}`));
    };
    // Its exit can be seen before its last message; its channel closes after that.
    child.once('close', end);
    child.once('exit', (code, signal) => {
      if (child.killed) end(code, signal);
    });
    // One that was not begun may have nothing to be sent through.
    child.once('spawn', () => child.send(call));
  });
}
