import { createHash } from 'node:crypto';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';

/** The web origin and the host for which a ticket is valid (docs/api/authentication.md). */
export interface TicketScope {
  readonly origin: string;
  readonly host: string;
}

export type Tickets = ReturnType<typeof createTickets>;

const TICKET_MS = 60_000;
const MAX_TICKETS = 1_000;
const TICKET_BYTES = 32;

interface Held extends TicketScope {
  readonly account: string;
  readonly expiresAt: number;
}

/** Creates the store of browser tickets. A ticket can be used once, within one minute, from one web origin. */
export function createTickets({ clock, random }: { clock: Clock; random: Random }) {
  const held = new Map<string, Held>();
  const dropOld = (): void => {
    for (const [digest, { expiresAt }] of held) {
      if (expiresAt > clock.now() && held.size <= MAX_TICKETS) return;
      held.delete(digest);
    }
  };
  return {
    /** Returns a new ticket and its expiry in milliseconds since the epoch. */
    issue({ account, origin, host }: TicketScope & { readonly account: string }) {
      const ticket = `foley-ticket-${Buffer.from(random.bytes(TICKET_BYTES)).toString('base64url')}`;
      const expiresAt = clock.now() + TICKET_MS;
      held.set(digestOf(ticket), { account, origin, host: host.toLowerCase(), expiresAt });
      dropOld();
      return { ticket, expiresAt };
    },
    /** Returns whether a web origin has an unused ticket. Without one, the service can refuse the handshake at once. */
    isExpected(place: TicketScope): boolean {
      dropOld();
      return [...held.values()].some((one) => isFor(one, place));
    },
    /**
     * Invalidates a ticket and returns its account; `undefined` if the ticket is unknown, expired or for another
     * origin.
     */
    redeem(ticket: string, place: TicketScope): string | undefined {
      dropOld();
      const digest = digestOf(ticket);
      const found = held.get(digest);
      held.delete(digest);
      return found !== undefined && isFor(found, place) ? found.account : undefined;
    },
  };
}

// Digests are stored, so that a memory dump contains no ticket.
function digestOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}

function isFor(held: Held, { origin, host }: TicketScope): boolean {
  return held.origin === origin && held.host === host.toLowerCase();
}
