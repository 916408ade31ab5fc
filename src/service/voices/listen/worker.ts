/**
 * The entry of a thread that measures uploads. They are decoded here and nowhere else: a file that is
 * made to hurt a decoder hurts a thread that ends afterwards.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { hearFiles } from './hear-files.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;

void hearFiles(workerData).then((heard) => port.postMessage(heard));
