import type { Operation } from '../operations/operation.ts';
import type { RunningGeneration } from './generations.ts';
import { createSettlement } from './settlement.ts';
import type { StartedAudio } from './start-audio.ts';

export interface AudioBodyOptions {
  readonly audio: StartedAudio;
  readonly generation: RunningGeneration;
  readonly operation: Operation;
  readonly onFailure: (error: unknown) => void;
}

/**
 * The body of a speech answer, made as fast as it is read. Its end settles the operation once: read
 * to the end or left by the client, the charge stands; failed, it is refunded and the body ends in
 * an error, never as if it were whole.
 */
export function audioBody(options: AudioBodyOptions): ReadableStream<Uint8Array> {
  const { audio, generation } = options;
  const settlement = createSettlement({ ...options, source: audio.rest });
  const head = [...audio.head];
  const cutShort = (controller: ReadableStreamDefaultController, error: unknown): void => {
    controller.error(error);
    settlement.fail(error);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = (): void => cutShort(controller, generation.signal.reason);
        generation.signal.addEventListener('abort', abort, { once: true });
      },
      async pull(controller) {
        try {
          const bytes = head.shift() ?? (await nextOf(audio.rest));
          if (bytes !== undefined) return controller.enqueue(bytes);
          if (!settlement.complete()) throw new Error('the answer could not be settled');
          return controller.close();
        } catch (error) {
          return cutShort(controller, error);
        }
      },
      cancel: (reason) => settlement.leave(reason),
    },
    { highWaterMark: 0 },
  );
}

async function nextOf(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  const next = await iterator.next();
  return next.done === true ? undefined : next.value;
}
