import type { Format } from '../../src/audio/formats.ts';
import type { AudioVerdict } from '../../src/audio/reader.ts';
import type { VerifierOptions } from '../../src/audio/verify.ts';
import { createVerifier } from '../../src/audio/verify.ts';

/** Verifies a whole file in memory. */
export function verifyBytes(
  format: Format,
  bytes: Uint8Array,
  options: VerifierOptions = {},
): AudioVerdict {
  const verifier = createVerifier(format, options);
  verifier.write(bytes);
  return verifier.end();
}
