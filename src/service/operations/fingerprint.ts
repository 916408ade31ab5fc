import { createHash } from 'node:crypto';

/**
 * Digest of what a request asks for. The order of the fields and the white space between them do
 * not count; every value but `undefined` does.
 */
export function fingerprintOf(body: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
