import { describe, expect, it } from 'vitest';
import { hearInThread } from '../../../src/service/voices/listen/listening-thread.ts';
import { manualClock } from '../../api/manual-clock.ts';

const TIMEOUT_MS = 1_000;
const clock = manualClock();

/** Hears no file in a thread that runs this code. */
function hear(code: string, signal = new AbortController().signal): Promise<unknown> {
  const workerFile = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  return hearInThread({ workerFile, clock, timeoutMs: TIMEOUT_MS })([], signal);
}

const SILENT = 'setInterval(() => {}, 1_000_000)';

describe('a listening thread', () => {
  it('returns its result, and ends though it has more to do', async () => {
    const code = `import { parentPort } from 'node:worker_threads';
      parentPort.postMessage('heard'); ${SILENT}`;
    expect(await hear(code)).toBe('heard');
  });

  it.each([
    ['fails', 'throw new Error("broken")', 'broken'],
    [
      'ends without a result',
      'process.exit(0)',
      'The thread that measures pitch ended unexpectedly.',
    ],
  ])('that %s is an error', async (_what, code, message) => {
    await expect(hear(code)).rejects.toThrow(message);
  });

  it('that takes too long is ended', async () => {
    const heard = expect(hear(SILENT)).rejects.toThrow(
      `Measuring the pitch took longer than ${TIMEOUT_MS}`,
    );
    clock.advance(TIMEOUT_MS);
    await heard;
  });

  it('ends when the request is aborted, also before it begins', async () => {
    const aborting = new AbortController();
    const heard = expect(hear(SILENT, aborting.signal)).rejects.toThrow('closing');
    aborting.abort(new Error('closing'));
    await heard;
    await expect(hear(SILENT, aborting.signal)).rejects.toThrow('closing');
  });
});
