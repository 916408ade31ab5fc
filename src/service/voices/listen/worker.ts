/**
 * The entry of a thread that listens. What is uploaded is decoded here and nowhere else: a file that is
 * made to hurt a decoder hurts a thread that is ended afterwards.
 */

import { parentPort } from 'node:worker_threads';
import { hear } from './listen-to-file.ts';
import type { FromListener, ToListener } from './listening-thread.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;

port.on('message', (task: ToListener) => {
  void hear(task).then((answer: FromListener) => port.postMessage(answer));
});
