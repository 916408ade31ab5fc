import type { OpenFile } from '../../audio/decode/file-pieces.ts';
import type { VoiceProfile } from './voice-profile.ts';

/** Listens to voices, one request at a time. */
export interface Listener {
  /**
   * What voice is heard in files; nothing where there is none. A file that cannot be used is told.
   * @throws Error when listening fails, or takes too long; the signal's reason once it is aborted
   */
  hearFiles(files: readonly OpenFile[], signal: AbortSignal): Promise<HeardFiles>;
  /** What voice these samples are of; nothing where none is heard. They are given away. */
  hearSamples(speech: Speech, signal: AbortSignal): Promise<VoiceProfile | undefined>;
  /** Ends it; nothing can be asked of it then. */
  close(): Promise<void>;
}

export interface Speech {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
}

export type HeardFiles =
  | { readonly kind: 'heard'; readonly profile: VoiceProfile | undefined }
  /** The file at this place cannot be used; the problem goes on behind its name. */
  | { readonly kind: 'refused'; readonly index: number; readonly problem: string };

/** Begins to listen; each voice that is made has a listener of its own. */
export type OpenListener = () => Listener;
