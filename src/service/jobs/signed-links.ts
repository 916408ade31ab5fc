import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { Connection } from '../store/connection.ts';
import { text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

export interface LinkTarget {
  /** Id of a job or of a media file. */
  readonly taskId: string;
  /** True to send the file as an attachment. */
  readonly download: boolean;
}

/** The query parameters of a signed link, which prove that the service created the link. */
export interface LinkProof {
  /** Expiry in seconds since the epoch. */
  readonly expires: number;
  readonly signature: string;
}

export type SignedLinks = ReturnType<typeof createSignedLinks>;

/** Default lifetime of a signed link in seconds. A client needs only enough time to follow a redirect. */
export const LINK_SECONDS = 300;

const SECRET = 'links';
const SECRET_BYTES = 32;

/**
 * Returns functions that sign links and check signed links. A signed link works without an API key. The signing secret
 * is stored in the data directory (docs/api/jobs.md#v1).
 */
export function createSignedLinks({
  store,
  clock,
  random,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}) {
  let known: string | undefined;
  const secret = (): string => {
    known ??= store.read(readSecret) ?? store.write((db) => makeSecret(db, random));
    return known;
  };
  const signatureOf = ({ taskId, download }: LinkTarget, expires: number): string =>
    createHmac('sha256', secret())
      .update(JSON.stringify([taskId, download, expires]))
      .digest('base64url');
  return {
    /** Returns the query parameters that sign a link. @param expiresAt expiry in milliseconds since the epoch */
    sign(target: LinkTarget, expiresAt = clock.now() + LINK_SECONDS * 1_000): LinkProof {
      const expires = Math.floor(expiresAt / 1_000);
      return { expires, signature: signatureOf(target, expires) };
    },
    /** Returns whether the signature is valid and the link has not expired. */
    isValid(target: LinkTarget, { expires, signature }: LinkProof): boolean {
      const expected = Buffer.from(signatureOf(target, expires));
      const given = Buffer.from(signature);
      const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
      return isOurs && clock.now() <= expires * 1_000;
    },
  };
}

function readSecret(db: Connection): string | undefined {
  const row = db.get('SELECT value FROM secret WHERE name = ?', [SECRET]);
  return row === undefined ? undefined : text(row, 'value');
}

function makeSecret(db: Connection, random: Random): string {
  const value = Buffer.from(random.bytes(SECRET_BYTES)).toString('hex');
  db.run('INSERT OR IGNORE INTO secret (name, value) VALUES (?, ?)', [SECRET, value]);
  return readSecret(db) ?? value;
}
