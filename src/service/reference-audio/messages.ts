import type { OpenFile } from '../../audio/decode/file-pieces.ts';
import type { VoiceProfile } from './voice-profile.ts';

/** What is asked of the thread that listens, one thing at a time. */
export type ToListener =
  /** Of what voice these files are. */
  | { readonly kind: 'files'; readonly files: readonly OpenFile[] }
  /** Of what voice this is. */
  | { readonly kind: 'samples'; readonly samples: Float32Array; readonly sampleRate: number };

export type FromListener =
  /** No profile where no voice is heard. */
  | { readonly kind: 'heard'; readonly profile: VoiceProfile | undefined }
  /** The file at this place cannot be used. */
  | { readonly kind: 'refused'; readonly index: number; readonly problem: string }
  | { readonly kind: 'failed'; readonly message: string };

export function isFromListener(message: unknown): message is FromListener {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  return message.kind === 'heard' || message.kind === 'refused' || message.kind === 'failed';
}
