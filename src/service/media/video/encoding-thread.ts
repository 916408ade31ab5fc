import { Worker } from 'node:worker_threads';
import type { FrameRange } from './encode-frames.ts';
import type { Footage } from './footage.ts';

export interface EncodingTask {
  readonly footage: Footage;
  readonly range: FrameRange;
}

/** What an encoding thread tells. */
export type EncodingNews =
  | { readonly type: 'frame' }
  | { readonly type: 'done'; readonly file: Uint8Array };

/**
 * Encodes a range of frames in a thread of its own.
 * @param file the bundled `encoder-worker.ts`
 * @throws what went wrong in the thread
 */
export function encodeInThread(
  file: string,
  task: EncodingTask,
  onFrame: () => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { name: 'encoder', workerData: task });
    worker.on('message', (news: EncodingNews) => {
      if (news.type === 'frame') onFrame();
      else resolve(news.file);
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the encoding thread ended')));
  });
}
