// Entry point of a worker thread that creates the subtitles of a long text.

import { parentPort, workerData } from 'node:worker_threads';
import type { SubtitlesTask } from './subtitles-thread.ts';
import { subtitlesOf } from './subtitles.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;
const { assStyle, cues, format, shape, timings }: SubtitlesTask = workerData;
port.postMessage(subtitlesOf(timings, shape, format, cues, assStyle));
