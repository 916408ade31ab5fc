// Entry point of the thread that decodes and measures uploads. A malicious file can harm only this thread.

import { parentPort, workerData } from 'node:worker_threads';
import { hearFiles } from './hear-files.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;

void hearFiles(workerData).then((heard) => port.postMessage(heard));
