import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { Connection } from '../store/connection.ts';
import { text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';

export interface LinkTarget {
  /** Id of a job or a media file; all ids differ. */
  readonly taskId: string;
  /** Whether the file is sent as an attachment. */
  readonly download: boolean;
}

/** The query of a signed link. */
export interface LinkProof {
  /** Seconds since the epoch; the link is invalid afterwards. */
  readonly expires: number;
  readonly signature: string;
}

/** Links that need no key because they are signed, and expire (docs/api/jobs.md#v1). */
export type SignedLinks = ReturnType<typeof createSignedLinks>;

/** Long enough to follow a redirect. */
export const LINK_SECONDS = 300;

const SECRET = 'links';
const SECRET_BYTES = 32;

/** Creates the links of all services on the same data, which share a secret. */
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
    /** @param expiresAt milliseconds since the epoch */
    sign(target: LinkTarget, expiresAt = clock.now() + LINK_SECONDS * 1_000): LinkProof {
      const expires = Math.floor(expiresAt / 1_000);
      return { expires, signature: signatureOf(target, expires) };
    },
    /** Whether a service on this data signed the link and it has not expired. */
    isGood(target: LinkTarget, { expires, signature }: LinkProof): boolean {
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

/** If two processes store a secret at the same time, the first wins. */
function makeSecret(db: Connection, random: Random): string {
  const value = Buffer.from(random.bytes(SECRET_BYTES)).toString('hex');
  db.run('INSERT OR IGNORE INTO secret (name, value) VALUES (?, ?)', [SECRET, value]);
  return readSecret(db) ?? value;
}
