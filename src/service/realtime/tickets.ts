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
  // The oldest ticket is first. The other maps find tickets without a search through those of all accounts.
  const held = new Map<string, HeldTicket>();
  const digestsByAccount = new Map<string, Set<string>>();
  const countsByPlace = new Map<string, number>();
  const add = (digest: string, ticket: HeldTicket): void => {
    held.set(digest, ticket);
    const own = digestsByAccount.get(ticket.account) ?? new Set();
    digestsByAccount.set(ticket.account, own.add(digest));
    const place = placeKey(ticket);
    countsByPlace.set(place, (countsByPlace.get(place) ?? 0) + 1);
  };
  const remove = (digest: string): HeldTicket | undefined => {
    const ticket = held.get(digest);
    if (ticket === undefined) return undefined;
    held.delete(digest);
    const own = digestsByAccount.get(ticket.account);
    own?.delete(digest);
    if (own?.size === 0) digestsByAccount.delete(ticket.account);
    const place = placeKey(ticket);
    const left = (countsByPlace.get(place) ?? 0) - 1;
    if (left > 0) countsByPlace.set(place, left);
    else countsByPlace.delete(place);
    return ticket;
  };
  const dropExpired = (): void => {
    for (const [digest, { endsAt }] of held) {
      if (endsAt > clock.monotonic()) return;
      remove(digest);
    }
  };
  const dropOldestOf = (account: string): void => {
    const own = digestsByAccount.get(account) ?? new Set();
    const [oldest] = own;
    if (own.size > MAX_TICKETS && oldest !== undefined) remove(oldest);
  };
  return {
    /** Returns a new ticket and its expiry in milliseconds since the epoch. */
    issue({ account, origin, host }: TicketScope & { readonly account: string }) {
      const ticket = `foley-ticket-${Buffer.from(random.bytes(TICKET_BYTES)).toString('base64url')}`;
      const endsAt = clock.monotonic() + TICKET_MS;
      add(digestOf(ticket), { account, origin, host, endsAt });
      dropExpired();
      dropOldestOf(account);
      return { ticket, expiresAt: clock.now() + TICKET_MS };
    },
    /** Returns whether a web origin has an unused ticket. Without one, the service can refuse the handshake at once. */
    isExpected(place: TicketScope): boolean {
      dropExpired();
      return countsByPlace.has(placeKey(place));
    },
    /**
     * Invalidates a ticket and returns its account; `undefined` if the ticket is unknown, expired or for another
     * origin.
     */
    redeem(ticket: string, place: TicketScope): string | undefined {
      dropExpired();
      const found = remove(digestOf(ticket));
      return found !== undefined && placeKey(found) === placeKey(place) ? found.account : undefined;
    },
  };
}

// Digests are stored, so that a memory dump contains no ticket.
function digestOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}

// Neither an origin nor a host contains a space.
function placeKey({ origin, host }: TicketScope): string {
  return `${origin} ${host.toLowerCase()}`;
}
