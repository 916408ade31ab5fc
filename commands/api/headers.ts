import { checkHeader } from '../../src/api/request.ts';
import { HEADERS } from '../../src/contract/headers.ts';
import { usageFailure } from '../../src/errors/failure.ts';

/** The headers of `-H`; those that the client has a place for are apart. */
export interface GivenHeaders {
  readonly requestId: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  /** The rest, by lower-case name; several values of one name are joined, as HTTP has it. */
  readonly others: Readonly<Record<string, string>>;
}

/**
 * Reads the values of `-H`, `name:value` each.
 * @throws Failure (usage) for what is no header, and for those that foley writes itself
 */
export function parseHeaders(given: readonly string[]): GivenHeaders {
  const all = new Map<string, string>();
  for (const line of given) {
    const [name, value] = parseHeader(line);
    const known = all.get(name);
    all.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  const take = (name: string): string | undefined => {
    const value = all.get(name);
    all.delete(name);
    return value;
  };
  return {
    requestId: take(HEADERS.requestId.toLowerCase()),
    idempotencyKey: take(HEADERS.idempotencyKey.toLowerCase()),
    accept: take('accept'),
    contentType: take('content-type'),
    others: Object.fromEntries(all),
  };
}

function parseHeader(line: string): readonly [name: string, value: string] {
  const at = line.indexOf(':');
  if (at < 1) {
    // What was given may be a secret without its name, so that it is not repeated.
    throw usageFailure('-H has no name and colon; it takes name:value');
  }
  const name = line.slice(0, at).trim();
  if (name.toLowerCase() === 'authorization') {
    throw usageFailure(
      '-H may not set Authorization',
      'The key is FOLEY_API_KEY, --api-key-file PATH, or a stored account (`foley auth login`).',
    );
  }
  return [name.toLowerCase(), checkHeader(name, line.slice(at + 1).trim())];
}
