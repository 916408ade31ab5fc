import { createHash } from 'node:crypto';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';

/** Who may see the page: whoever came by a link that was printed for them, in the browser that used it. */
export interface Visits {
  /** What a link of the page ends in; good once. */
  invite(account: string): string;
  /** Begins a session with the end of a link, which is used up; `undefined` when it is not good. */
  begin(invitation: string): string | undefined;
  /** Whose session it is. */
  accountOf(session: string): string | undefined;
}

/** A working day. */
export const SESSION_MS = 12 * 60 * 60 * 1000;
const SECRET_BYTES = 24;
const MOST_SESSIONS = 100;

/** Links and sessions are known to this process only, as digests. */
export function createVisits({ clock, random }: { clock: Clock; random: Random }): Visits {
  const invitations = new Map<string, string>();
  const sessions = new Map<string, { readonly account: string; readonly endsAt: number }>();
  const secret = (): string => Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
  const forgetOld = (): void => {
    for (const [digest, { endsAt }] of sessions) {
      if (endsAt > clock.now() && sessions.size <= MOST_SESSIONS) return;
      sessions.delete(digest);
    }
  };
  return {
    invite(account) {
      const invitation = secret();
      invitations.set(digestOf(invitation), account);
      return invitation;
    },
    begin(invitation) {
      const digest = digestOf(invitation);
      const account = invitations.get(digest);
      if (account === undefined) return undefined;
      invitations.delete(digest);
      const session = secret();
      sessions.set(digestOf(session), { account, endsAt: clock.now() + SESSION_MS });
      forgetOld();
      return session;
    },
    accountOf(session) {
      forgetOld();
      return sessions.get(digestOf(session))?.account;
    },
  };
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
