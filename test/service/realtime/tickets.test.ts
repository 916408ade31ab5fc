import { describe, expect, test } from 'vitest';
import { systemRandom } from '../../../src/system/random.ts';
import { createTickets } from '../../../src/service/realtime/tickets.ts';
import { manualClock } from '../../api/manual-clock.ts';

const PLACE = { origin: 'https://studio.example', host: '127.0.0.1:4747' };
const account = 'first';

function ticketsWith(clock = manualClock()) {
  return { tickets: createTickets({ clock, random: systemRandom }), clock };
}

describe('a browser ticket', () => {
  test('is good once, and speaks for the account that it was made for', () => {
    const { tickets } = ticketsWith();
    const { ticket } = tickets.issue({ account, ...PLACE });
    expect(tickets.isExpected(PLACE)).toBe(true);
    expect(tickets.redeem(ticket, PLACE)).toBe(account);
    expect(tickets.redeem(ticket, PLACE)).toBeUndefined();
    expect(tickets.isExpected(PLACE)).toBe(false);
  });

  test.each([
    ['another origin', { ...PLACE, origin: 'https://other.example' }],
    ['another host', { ...PLACE, host: 'localhost:4747' }],
  ])('is good for its own page only: %s', (_what, place) => {
    const { tickets } = ticketsWith();
    const { ticket } = tickets.issue({ account, ...PLACE });
    expect(tickets.isExpected(place)).toBe(false);
    expect(tickets.redeem(ticket, place)).toBeUndefined();
    expect(tickets.redeem(ticket, PLACE)).toBeUndefined();
  });

  test('is good for a minute', () => {
    const { tickets, clock } = ticketsWith();
    const { ticket, expiresAt } = tickets.issue({ account, ...PLACE });
    expect(expiresAt).toBe(clock.now() + 60_000);
    clock.advance(59_999);
    expect(tickets.isExpected(PLACE)).toBe(true);
    clock.advance(1);
    expect(tickets.isExpected(PLACE)).toBe(false);
    expect(tickets.redeem(ticket, PLACE)).toBeUndefined();
  });

  test('is good for a minute, also when the clock is set back meanwhile', () => {
    const { tickets, clock } = ticketsWith();
    tickets.issue({ account, ...PLACE });
    clock.setBack(3_600_000);
    const { ticket } = tickets.issue({ account, ...PLACE });
    clock.advance(60_000);
    expect(tickets.isExpected(PLACE)).toBe(false);
    expect(tickets.redeem(ticket, PLACE)).toBeUndefined();
  });

  test('takes no place from those of another account', () => {
    const { tickets } = ticketsWith();
    const { ticket } = tickets.issue({ account: 'second', ...PLACE });
    for (let count = 0; count < 1_001; count += 1) tickets.issue({ account, ...PLACE });
    expect(tickets.redeem(ticket, PLACE)).toBe('second');
  });

  test('makes room for a newer one when there are a thousand', () => {
    const { tickets } = ticketsWith();
    const all = Array.from({ length: 1_001 }, () => tickets.issue({ account, ...PLACE }).ticket);
    expect(tickets.redeem(all[0] ?? '', PLACE)).toBeUndefined();
    expect(tickets.redeem(all[1] ?? '', PLACE)).toBe(account);
  });
});
