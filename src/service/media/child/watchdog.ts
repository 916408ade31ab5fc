import { Worker } from 'node:worker_threads';

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
