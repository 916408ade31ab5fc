/**
 * The entry of a thread that measures uploads. They are decoded here and nowhere else: a file that is
 * made to hurt a decoder hurts a thread that ends afterwards.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { hearFiles } from './hear-files.ts';

void hearFiles(workerData).then((heard) => parentPort?.postMessage(heard));
