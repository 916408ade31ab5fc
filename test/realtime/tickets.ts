/** The browser tickets of a server: each opens one connection from its origin. */
export class Tickets {
  readonly #origins = new Map<string, string>();
  #made = 0;

  issue(origin: string): string {
    this.#made += 1;
    const ticket = `ticket-${this.#made}`;
    this.#origins.set(ticket, origin);
    return ticket;
  }

  /** Uses a ticket; false if it is unknown, used, or of another origin. */
  redeem(ticket: string, origin: string | undefined): boolean {
    const of = this.#origins.get(ticket);
    this.#origins.delete(ticket);
    return of !== undefined && of === origin;
  }
}
