/** The entry of an encoding thread: draws and encodes one range of frames, and ends. */

import { parentPort, workerData } from 'node:worker_threads';
import { encodeFrames } from './encode-frames.ts';
import type { EncodingNews, EncodingTask } from './encoding-thread.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;

void work(workerData);

async function work({ footage, range }: EncodingTask): Promise<void> {
  const file = await encodeFrames(footage, range, () => tell({ type: 'frame' }));
  tell({ type: 'done', file });
}

function tell(news: EncodingNews): void {
  port.postMessage(news);
}
