import { Worker } from 'node:worker_threads';
import { Check } from 'typebox/schema';
import { errnoOf } from '../../../durable/file-failures.ts';
import { MediaTaskError } from './media-task-error.ts';
import type { TaskNews, MediaTask } from './messages.ts';
import { TaskCall } from './messages.ts';
import { MEDIA_TASKS } from './tasks.ts';

/**
 * The media child: a process that does one task and ends. Whatever a hostile file does to it (an endless
 * loop, all of its memory), only that task is lost.
 */

const TASKS: ReadonlyMap<string, MediaTask> = new Map(Object.entries(MEDIA_TASKS));

/** Progress is told in steps of so much. */
const STEP = 0.01;

process.once('message', (call: unknown) => {
  void answer(call);
});

async function answer(call: unknown): Promise<void> {
  try {
    if (!Check(TaskCall, call)) throw new TypeError('this is no call of a task');
    startWatchdog(call.deadlineMs);
    const task = TASKS.get(call.task);
    if (task === undefined) throw new TypeError(`there is no task ${call.task}`);
    tell({ type: 'done', result: await task(call.order, { progress: progressTeller() }) });
  } catch (error) {
    const reason = error instanceof MediaTaskError ? error.reason : 'failed';
    const errno = errnoOf(error) ?? (NO_SPACE.test(messageOf(error)) ? 'ENOSPC' : undefined);
    const known = errno === undefined ? {} : { errno };
    tell({ type: 'failed', reason, message: messageOf(error), ...known });
  }
}

/** How the picture library words a full disk; its errors have no code. */
const NO_SPACE = /No space left on device|Disk quota exceeded/;

function progressTeller(): (fraction: number) => void {
  let told = 0;
  return (fraction) => {
    if (fraction < told + STEP) return;
    told = fraction;
    tell({ type: 'progress', fraction });
  };
}

function tell(news: TaskNews): void {
  process.send?.(news);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The service kills first; this is for a child whose service is gone. */
const MARGIN_MS = 5_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Ends this process when it takes too long or when nobody waits for it any more, also while it is caught
 * in a loop: a thread of its own looks after it.
 */
export function startWatchdog(deadlineMs: number): void {
  const data = { deadlineMs: deadlineMs + MARGIN_MS, everyMs: LOOK_EVERY_MS, parent: process.ppid };
  const thread = new Worker(WATCH, { eval: true, workerData: data });
  thread.on('error', () => undefined);
  thread.unref();
}

/** A thread needs a file or a text, and a file of its own would be a bundle of its own. */
const WATCH = `
const { deadlineMs, everyMs, parent } = require('node:worker_threads').workerData;
const end = () => process.kill(process.pid, 'SIGKILL');
setTimeout(end, deadlineMs);
setInterval(() => { if (process.ppid !== parent) end(); }, everyMs);
`;
