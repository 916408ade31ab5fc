import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import { createKeyTable } from '../http/guard.ts';
import type { Arrival } from '../http/guard.ts';
import type { RateLimit } from '../ledger/accounts.ts';
import type { AccountKey } from '../running-service.ts';
import type { SpeechContext } from '../speech/speak.ts';
import type { AudioFolder } from '../speech/audio-files.ts';
import type { Admission } from './admission.ts';
import { admit } from './admission.ts';
import { Requests } from './requests.ts';
import type { LiveSocket, SocketListener, Session } from './session.ts';
import { createTickets } from './tickets.ts';

export interface RealtimeDeps extends Pick<
  SpeechContext,
  'catalogue' | 'clock' | 'encode' | 'operations' | 'report' | 'speechQueue' | 'store'
> {
  readonly random: Random;
  readonly keys: readonly AccountKey[];
  readonly rateLimit: RateLimit;
  readonly folder: AudioFolder;
}

/** The realtime connections of a service (docs/api/realtime.md). */
export type Realtime = ReturnType<typeof createRealtime>;

const HURRY_MS = 1_000;

/** Creates the realtime connections of a service. */
export function createRealtime(deps: RealtimeDeps) {
  const { rateLimit, speechQueue } = deps;
  const tickets = createTickets(deps);
  const requests = new Requests({ ...deps, ownership: deps.operations.ownership });
  const context = { ...deps, tickets, requests };
  const keys = createKeyTable(deps.keys);
  const sessions = new OpenSessions();
  let SessionClass: typeof Session | undefined;
  return {
    tickets,
    requests,
    /** Checks a handshake and loads the session code. @throws ServiceError */
    async admit(arrival: Arrival): Promise<Omit<Admission, 'cut'>> {
      const admission = admit(arrival, {
        keys,
        rateLimit,
        speechQueue,
        connections: () => sessions.count(),
      });
      SessionClass ??= (await import('./session.ts')).Session;
      return admission;
    },
    /** Starts the session of an admitted handshake. */
    open: (admission: Admission, socket: LiveSocket): SocketListener => {
      if (SessionClass === undefined) throw new TypeError('open before admit');
      const onClose = (): void => sessions.remove(session);
      const session = new SessionClass(context, admission, socket, onClose);
      sessions.add(session);
      session.open();
      return session;
    },
    /** Connections with accepted segments that are not spoken yet. */
    get size(): number {
      return sessions.busy();
    },
    /** Finishes the accepted segments within `graceMs`, or one second after `hurry` is aborted, and closes all connections. */
    close: (graceMs: number, hurry?: AbortSignal): Promise<void> =>
      sessions.close(deps.clock, graceMs, hurry),
  };
}

class OpenSessions {
  readonly #all = new Set<Session>();
  #whenNone: (() => void) | undefined;

  add(session: Session): void {
    this.#all.add(session);
  }

  remove(session: Session): void {
    this.#all.delete(session);
    if (this.#all.size === 0) this.#whenNone?.();
  }

  /** Counts all, and those without a ticket yet. */
  count(): { readonly open: number; readonly unknown: number } {
    const unknown = [...this.#all].filter(({ isUnknown }) => isUnknown);
    return { open: this.#all.size, unknown: unknown.length };
  }

  busy(): number {
    return [...this.#all].filter(({ isBusy }) => isBusy).length;
  }

  async close(clock: Clock, graceMs: number, hurry: AbortSignal | undefined): Promise<void> {
    if (this.#all.size === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#whenNone = resolve;
    });
    this.#drain(false);
    const cut = (): void => this.#drain(true);
    const stops = [clock.after(graceMs, cut)];
    const hasten = (): void => void stops.push(clock.after(HURRY_MS, cut));
    hurry?.addEventListener('abort', hasten, { once: true });
    if (hurry?.aborted === true) hasten();
    await none;
    for (const stop of stops) stop();
    hurry?.removeEventListener('abort', hasten);
  }

  #drain(isForced: boolean): void {
    for (const session of this.#all) session.drain(isForced);
  }
}
