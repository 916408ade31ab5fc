import type { FlitePiece } from './synthesizer.ts';

/** What passes between the service and a speaking thread. A thread has one piece at a time. */
export type ToThread = FlitePiece;

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'spoken'; readonly samples: Float32Array }
  | { readonly kind: 'failed'; readonly message: string };

export function isFromThread(message: unknown): message is FromThread {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  switch (message.kind) {
    case 'ready':
      return true;
    case 'spoken':
      return 'samples' in message && message.samples instanceof Float32Array;
    case 'failed':
      return 'message' in message && typeof message.message === 'string';
    default:
      return false;
  }
}
