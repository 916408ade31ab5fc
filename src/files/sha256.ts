import type { Hash } from 'node:crypto';

/**
 * A SHA-256 that is fed piece by piece. Its module is loaded with the first one and not with the program:
 * it costs a short command two milliseconds, which it can spend while something is being written.
 */
export function createSha256(): Hash {
  return process.getBuiltinModule('node:crypto').createHash('sha256');
}

/** SHA-256 of the whole of something, in hexadecimal; texts count as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return createSha256().update(data).digest('hex');
}
