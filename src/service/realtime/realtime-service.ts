import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { BodyCut } from '../http/faults.ts';
import { createKeyTable } from '../http/guard.ts';
import type { IncomingRequest } from '../http/guard.ts';
import type { RateLimit } from '../ledger/accounts.ts';
import type { AccountKey } from '../running-service.ts';
import type { SpeechContext } from '../speech/speak.ts';
import type { AudioFolder } from '../speech/audio-files.ts';
import type { Store } from '../store/open-store.ts';
import type { Admission } from './admission.ts';
import { admit } from './admission.ts';
import { Requests } from './requests.ts';
import type { SessionSocket, SocketListener, Session } from './session.ts';
import { createTickets } from './tickets.ts';

interface RealtimeDeps {
  readonly clock: Clock;
  readonly store: Store;
  readonly random: Random;
  readonly keys: readonly AccountKey[];
  readonly audio: AudioFolder;
}

export type Realtime = ReturnType<typeof createRealtime>;

const HURRY_MS = 1_000;

/** Creates the handler of realtime connections (docs/api/realtime.md). */
export function createRealtime(speech: SpeechContext, deps: RealtimeDeps, rateLimit: RateLimit) {
  const { audio, clock, random } = deps;
  const { operations, speechQueue } = speech;
  const tickets = createTickets(deps);
  const requests = new Requests(deps, operations.ownership);
  const context = { speech, audio, random, tickets, requests };
  const keys = createKeyTable(deps.keys);
  const sessions = new Set<Session>();
  const connections = () => ({
    open: sessions.size,
    unknown: [...sessions].filter(({ isUnauthenticated }) => isUnauthenticated).length,
  });
  let onEmpty: (() => void) | undefined;
  let SessionClass: typeof Session | undefined;
  return {
    tickets,
    requests,
    /**
     * Checks a handshake. The first call also loads the session modules.
     * @throws ServiceError for a refused handshake
     */
    async admit(arrival: IncomingRequest, cut: BodyCut | undefined): Promise<Admission> {
      const admission = admit(arrival, cut, { keys, rateLimit, speechQueue, connections });
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
