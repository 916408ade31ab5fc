import type { Cover } from './encode/tags.ts';
import { createVerifier } from './verify.ts';

/** Maximum size of a cover in bytes: that of a FLAC picture block (RFC 9639, section 8.1), without its head. */
export const MOST_COVER_BYTES = 15 << 20;

/** Returns a picture with its type, or the problem of bytes that are no complete JPEG or PNG file. */
export function coverOf(
  data: Uint8Array,
):
  | { readonly picture: Cover; readonly problem?: undefined }
  | { readonly picture?: undefined; readonly problem: string } {
  const start = Buffer.from(data.subarray(0, 4)).toString('latin1');
  const type = start.startsWith('\xff\xd8\xff') ? 'jpeg' : start === '\x89PNG' ? 'png' : undefined;
  if (type === undefined) return { problem: 'is not a JPEG or PNG file' };
  const verifier = createVerifier(type);
  verifier.write(data);
  const { problem } = verifier.end();
  return problem === undefined ? { picture: { data, mimeType: `image/${type}` } } : { problem };
}
