import { createHash } from 'node:crypto';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';

/** The web origin and the host for which a ticket is valid (docs/api/authentication.md). */
export interface TicketScope {
  readonly origin: string;
  readonly host: string;
}

export type Tickets = ReturnType<typeof createTickets>;

const TICKET_MS = 60_000;
// For each account, so that no account can displace the tickets of another.
const MAX_TICKETS = 1_000;
const TICKET_BYTES = 32;

interface HeldTicket extends TicketScope {
  readonly account: string;
  /** On the monotonic clock, because the system time may be set back. */
  readonly endsAt: number;
}

/** Creates the store of browser tickets. A ticket can be used once, within one minute, from one web origin. */
export function createTickets({ clock, random }: { clock: Clock; random: Random }) {
  const held = new Map<string, HeldTicket>();
  const dropExpired = (): void => {
    for (const [digest, { endsAt }] of held) {
      if (endsAt > clock.monotonic()) return;
      held.delete(digest);
    }
  };
  const dropOldestOf = (account: string): void => {
    const own = [...held].filter(([, one]) => one.account === account);
    const [digest] = own[0] ?? [];
    if (own.length > MAX_TICKETS && digest !== undefined) held.delete(digest);
  };
  return {
    /** Returns a new ticket and its expiry in milliseconds since the epoch. */
    issue({ account, origin, host }: TicketScope & { readonly account: string }) {
      const ticket = `foley-ticket-${Buffer.from(random.bytes(TICKET_BYTES)).toString('base64url')}`;
      const endsAt = clock.monotonic() + TICKET_MS;
      held.set(digestOf(ticket), { account, origin, host: host.toLowerCase(), endsAt });
      dropExpired();
      dropOldestOf(account);
      return { ticket, expiresAt: clock.now() + TICKET_MS };
    },
    /** Returns whether a web origin has an unused ticket. Without one, the service can refuse the handshake at once. */
    isExpected(place: TicketScope): boolean {
      dropExpired();
      return [...held.values()].some((one) => isFor(one, place));
    },
    /**
     * Invalidates a ticket and returns its account; `undefined` if the ticket is unknown, expired or for another
     * origin.
     */
    redeem(ticket: string, place: TicketScope): string | undefined {
      dropExpired();
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

function isFor(held: HeldTicket, { origin, host }: TicketScope): boolean {
  return held.origin === origin && held.host === host.toLowerCase();
}
