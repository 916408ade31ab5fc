import type { TimedSound } from './sounds.ts';
import type { FlitePiece } from './synthesizer.ts';

/** What passes between the service and a speaking thread. A thread has one task at a time. */
export type ToThread =
  | ({ readonly kind: 'speak' } & FlitePiece)
  /** How each of these sounds alone. */
  | { readonly kind: 'pronounce'; readonly tokens: readonly string[] };

export type FromThread =
  | { readonly kind: 'ready' }
  | Spoken
  | Pronounced
  | { readonly kind: 'failed'; readonly message: string };

export interface Spoken {
  readonly kind: 'spoken';
  readonly samples: Float32Array;
  /** Nothing unless the piece is timed. */
  readonly sounds: readonly TimedSound[];
}

export interface Pronounced {
  readonly kind: 'pronounced';
  /** Names of the sounds of each token; none for what is not said. */
  readonly tokens: readonly (readonly string[])[];
}

export function isFromThread(message: unknown): message is FromThread {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  switch (message.kind) {
    case 'ready':
      return true;
    case 'spoken':
      return 'samples' in message && message.samples instanceof Float32Array && hasSounds(message);
    case 'pronounced':
      return 'tokens' in message && Array.isArray(message.tokens);
    case 'failed':
      return 'message' in message && typeof message.message === 'string';
    default:
      return false;
  }
}

function hasSounds(message: object): boolean {
  return 'sounds' in message && Array.isArray(message.sounds);
}
