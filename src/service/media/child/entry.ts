import { Worker } from 'node:worker_threads';
import { Check } from 'typebox/schema';
import { errnoOf } from '../../../durable/file-failures.ts';
import type { TaskMessage, MediaTask } from './messages.ts';
import { MediaTaskError, TaskCall } from './messages.ts';

const MEDIA_TASKS = {
  inspect: async (order, tools) =>
    (await import('../inspection/inspect-media.ts')).inspectMedia(order, tools),
  'align-sound': async (order, tools) =>
    (await import('../lipsync/align-sound.ts')).alignSound(order, tools),
  'inspect-picture': async (order, tools) =>
    (await import('../pictures/reference.ts')).inspectPictureTask(order, tools),
  image: async (order, tools) => (await import('../pictures/card.ts')).imageTask(order, tools),
  video: async (order, tools) => (await import('../pictures/video.ts')).videoTask(order, tools),
} as const satisfies Readonly<Record<string, MediaTask>>;

export type MediaTaskName = keyof typeof MEDIA_TASKS;

const TASKS = new Map<string, MediaTask>(Object.entries(MEDIA_TASKS));

process.once('message', (call: unknown) => void runTask(call));

async function runTask(call: unknown): Promise<void> {
  try {
    if (!Check(TaskCall, call)) throw new TypeError('the message is not a valid call of a task');
    startWatchdog(call.deadlineMs);
    const task = TASKS.get(call.task);
    if (task === undefined) throw new TypeError(`unknown task ${call.task}`);
    send({ type: 'done', result: await task(call.order, { progress: progressReporter() }) });
  } catch (error) {
    const reason = error instanceof MediaTaskError ? error.reason : 'failed';
    const errno = errnoOf(error) ?? (NO_SPACE.test(messageOf(error)) ? 'ENOSPC' : undefined);
    const known = errno === undefined ? {} : { errno };
    send({ type: 'failed', reason, message: messageOf(error), ...known });
  }
}

// The errors of sharp have no code, so a full disk is recognized by the message.
const NO_SPACE = /No space left on device|Disk quota exceeded/;

const STEP = 0.01;

function progressReporter(): (fraction: number) => void {
  let reported = 0;
  return (fraction) => {
    if (fraction < reported + STEP) return;
    reported = fraction;
    send({ type: 'progress', fraction });
  };
}

function send(message: TaskMessage): void {
  process.send?.(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// The service kills the child at the deadline; this margin passes before the child kills itself.
const MARGIN_MS = 5_000;
const CHECK_EVERY_MS = 1_000;

function startWatchdog(deadlineMs: number): void {
  const data = {
    deadlineMs: deadlineMs + MARGIN_MS,
    everyMs: CHECK_EVERY_MS,
    parent: process.ppid,
  };
  const thread = new Worker(WATCHDOG_SCRIPT, { eval: true, workerData: data });
  thread.on('error', () => undefined);
  thread.unref();
}

// A string, because a separate file would need a separate bundle.
const WATCHDOG_SCRIPT = `
const { deadlineMs, everyMs, parent } = require('node:worker_threads').workerData;
const end = () => process.kill(process.pid, 'SIGKILL');
setTimeout(end, deadlineMs);
setInterval(() => { if (process.ppid !== parent) end(); }, everyMs);
`;
