import type { FileDeps } from './file-deps.ts';
import { openOutput } from './publish.ts';

export interface ReplaceOptions extends FileDeps {
  readonly path: string;
  readonly data: Uint8Array;
  /** Permissions of the file; 0o600 for what holds a secret. Without it those it had. */
  readonly mode?: number | undefined;
}

/**
 * Replaces a small file as a whole: whoever reads it meets the old one or the new one. Throws
 * {@link Failure}s as an output does, and leaves nothing behind.
 */
export async function replaceFile({ data, ...options }: ReplaceOptions): Promise<void> {
  const output = await openOutput(options);
  try {
    await output.write(data);
    await output.publish();
  } catch (error) {
    await output.abandon();
    throw error;
  }
}
