import { createHash } from 'node:crypto';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';

/** Where a ticket is good: the page that it was made for, and the host that made it (docs/api/authentication.md). */
export interface TicketPlace {
  readonly origin: string;
  readonly host: string;
}

export interface IssuedTicket {
  readonly ticket: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Browser tickets: good once, soon, and for one page. They are known to this process only. */
export interface Tickets {
  issue(ticket: TicketPlace & { readonly account: string }): IssuedTicket;
  /** Whether a page holds a ticket that was not used, so that its handshake may come in. */
  isExpected(place: TicketPlace): boolean;
  /** The account that a ticket speaks for; it is used up, whatever comes of it. */
  redeem(ticket: string, place: TicketPlace): string | undefined;
}

/** Long enough for a page to connect with it. */
const TICKET_MS = 60_000;
/** The oldest make room. */
const MOST_TICKETS = 1_000;
const TICKET_BYTES = 32;

interface Held extends TicketPlace {
  readonly account: string;
  readonly expiresAt: number;
}

export function createTickets({ clock, random }: { clock: Clock; random: Random }): Tickets {
  const held = new Map<string, Held>();
  const forgetOld = (): void => {
    for (const [digest, { expiresAt }] of held) {
      if (expiresAt > clock.now() && held.size <= MOST_TICKETS) return;
      held.delete(digest);
    }
  };
  return {
    issue({ account, origin, host }) {
      const ticket = `foley-ticket-${Buffer.from(random.bytes(TICKET_BYTES)).toString('base64url')}`;
      const expiresAt = clock.now() + TICKET_MS;
      held.set(digestOf(ticket), { account, origin, host: host.toLowerCase(), expiresAt });
      forgetOld();
      return { ticket, expiresAt };
    },
    isExpected(place) {
      forgetOld();
      return [...held.values()].some((one) => isFor(one, place));
    },
    redeem(ticket, place) {
      forgetOld();
      const digest = digestOf(ticket);
      const found = held.get(digest);
      held.delete(digest);
      return found !== undefined && isFor(found, place) ? found.account : undefined;
    },
  };
}

/** Only digests are kept, so that nothing here is worth reading. */
function digestOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}

function isFor(held: Held, { origin, host }: TicketPlace): boolean {
  return held.origin === origin && held.host === host.toLowerCase();
}
