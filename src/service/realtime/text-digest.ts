import { createHash } from 'node:crypto';

/** Tells a text from every other one, so that it need not be kept. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('base64url');
}
