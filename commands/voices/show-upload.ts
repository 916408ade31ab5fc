import type { Context } from '../../src/cli/command.ts';
import type { Progress, TransferBar } from '../../src/cli/render/progress.ts';
import { startProgress, startTransferBar } from '../../src/cli/render/progress.ts';

/** What is seen of an upload: how much has gone, and then that the service works on it. */
export interface ShownUpload {
  sent(bytes: number, of: number): void;
  stop(): void;
}

/** Shows it where a person is looking. */
export function showUpload({ clock, io }: Pick<Context, 'clock' | 'io'>): ShownUpload {
  let bar: TransferBar | undefined;
  let waiting: Progress | undefined;
  return {
    sent(bytes, totalBytes) {
      if (bytes >= totalBytes) {
        bar?.stop();
        bar = undefined;
        waiting ??= startProgress(io, clock, 'the service makes the voice');
        return;
      }
      waiting?.stop();
      waiting = undefined;
      bar ??= startTransferBar(io, clock, { label: 'sending', totalBytes });
      bar.update(bytes);
    },
    stop() {
      bar?.stop();
      waiting?.stop();
    },
  };
}
