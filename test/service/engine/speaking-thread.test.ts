import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { SpeakingThread } from '../../../src/service/engine/thread-pool.ts';
import { createSandbox } from '../../harness/sandbox.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A thread that answers with something, and says in a file that it has. */
async function answering(): Promise<{ workerFile: string; answered: string }> {
  const { root } = await createSandbox();
  const answered = path.join(root, 'answered');
  const workerFile = path.join(root, 'worker.mjs');
  writeFileSync(
    workerFile,
    `import { writeFileSync } from 'node:fs';
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => {
      parentPort.postMessage('something');
      writeFileSync(${JSON.stringify(answered)}, '');
    });
    parentPort.postMessage({ kind: 'ready' });`,
  );
  return { workerFile, answered };
}

describe('a thread that is ended', () => {
  test('keeps the process alive until it has, also when an answer comes late', async () => {
    const { answered, workerFile } = await answering();
    const thread = new SpeakingThread({
      workerFile,
      name: 'test',
      isResult: (_message): _message is unknown => true,
    });
    await thread.ready;
    const unref = vi.spyOn(Worker.prototype, 'unref');
    const work = thread.work({ kind: 'pronounce', tokens: ['one'] }).catch(String);
    // Nothing is heard of the answer while this process does not listen.
    while (!existsSync(answered));
    await thread.end(new Error('that is all'));
    expect(await work).toBe('Error: that is all');
    expect(unref).not.toHaveBeenCalled();
  });
});
