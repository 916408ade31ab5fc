import type { Random } from '../../system/random.ts';
import { createKeyTable } from '../http/guard.ts';
import type { IncomingRequest } from '../http/guard.ts';
import type { RateLimit } from '../ledger/accounts.ts';
import type { AccountKey } from '../running-service.ts';
import type { SpeechContext } from '../speech/speak.ts';
import type { AudioFolder } from '../speech/audio-files.ts';
import type { Admission } from './admission.ts';
import { admit } from './admission.ts';
import { Requests } from './requests.ts';
import type { SessionSocket, SocketListener, Session } from './session.ts';
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

export type Realtime = ReturnType<typeof createRealtime>;

const HURRY_MS = 1_000;

/** Creates the handler of realtime connections (docs/api/realtime.md). */
export function createRealtime(deps: RealtimeDeps) {
  const { clock, rateLimit, speechQueue } = deps;
  const tickets = createTickets(deps);
  const requests = new Requests({ ...deps, ownership: deps.operations.ownership });
  const context = { ...deps, tickets, requests };
  const keys = createKeyTable(deps.keys);
  const sessions = new Set<Session>();
  let onEmpty: (() => void) | undefined;
  let SessionClass: typeof Session | undefined;
  return {
    tickets,
    requests,
    /**
     * Checks a handshake. The first call also loads the session modules.
     * @throws ServiceError for a refused handshake
     */
    async admit(arrival: IncomingRequest): Promise<Omit<Admission, 'cut'>> {
      const admission = admit(arrival, {
        keys,
        rateLimit,
        speechQueue,
        connections: () => ({
          open: sessions.size,
          unknown: [...sessions].filter(({ isUnauthenticated }) => isUnauthenticated).length,
        }),
      });
      SessionClass ??= (await import('./session.ts')).Session;
      return admission;
    },
    /** Starts a session on the WebSocket of an accepted handshake. */
    open: (admission: Admission, socket: SessionSocket): SocketListener => {
      if (SessionClass === undefined) throw new TypeError('open before admit');
      const onClose = (): void => {
        sessions.delete(session);
        if (sessions.size === 0) onEmpty?.();
      };
      const session = new SessionClass(context, admission, socket, onClose);
      sessions.add(session);
      session.open();
      return session;
    },
    /** Number of connections with segments that are accepted but not completely spoken. */
    get size(): number {
      return [...sessions].filter(({ isBusy }) => isBusy).length;
    },
    /**
     * Finishes the accepted segments, then closes all connections. Waits at most `graceMs`, or one second after `hurry`
     * is aborted.
     */
    async close(graceMs: number, hurry?: AbortSignal): Promise<void> {
      if (sessions.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      const drain = (isForced: boolean): void => {
        for (const session of sessions) session.drain(isForced);
      };
      drain(false);
      const cut = (): void => drain(true);
      const stops = [clock.after(graceMs, cut)];
      const hasten = (): void => void stops.push(clock.after(HURRY_MS, cut));
      hurry?.addEventListener('abort', hasten, { once: true });
      if (hurry?.aborted === true) hasten();
      await empty;
      for (const stop of stops) stop();
      hurry?.removeEventListener('abort', hasten);
    },
  };
}
