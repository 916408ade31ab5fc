import type { ResourceLimits } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import { abortable } from './concurrency.ts';

interface ThreadOptions {
  /** Name of the thread, for messages. */
  readonly name: string;
  /** The data that the script gets. Its type must be that which the script expects. */
  readonly data: unknown;
  /** Stops the thread. */
  readonly signal: AbortSignal | undefined;
  /** Limits of the thread's memory. */
  readonly resourceLimits?: ResourceLimits;
}

/**
 * Runs a script in a thread until it sends a message, and returns the message. Only a thread can be stopped while it
 * computes.
 * @param script the script, which must send a message of the type `Reply`
 * @throws the error of the thread; on abort, the signal's abort reason
 */
export async function runThread<Reply>(
  script: string | URL,
  { data, name, signal, ...limits }: ThreadOptions,
): Promise<Reply> {
  signal?.throwIfAborted();
  const worker = new Worker(script, { name, workerData: data, ...limits });
  try {
    const reply = new Promise<Reply>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error(`The thread ${name} ended unexpectedly.`)));
    });
    return await abortable(reply, signal);
  } finally {
    await worker.terminate();
  }
}
