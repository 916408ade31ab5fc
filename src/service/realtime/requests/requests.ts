import type {
  RealtimeFormat,
  RealtimeMode,
  RequestState,
} from '../../../contract/realtime/protocols.ts';
import type { Clock } from '../../../effects/clock.ts';
import type { Random } from '../../../effects/random.ts';
import type { AudioFolder } from '../../audio-files/audio-folder.ts';
import type { StoredAudio } from '../../audio-files/stored-audio.ts';
import { abandon } from '../../operations/operation.ts';
import type { Owner } from '../../operations/owner.ts';
import type { Ownership } from '../../operations/ownership.ts';
import type { Connection } from '../../store/connection.ts';
import type { Store } from '../../store/open-store.ts';
import { segmentFile } from './segment-file.ts';
import type { RequestRecord } from './request-records.ts';
import {
  endRequest,
  findExpired,
  findRequest,
  forgetRequest,
  keepUntil,
  resumeRequest,
  writeRequest,
} from './request-records.ts';

export interface RequestsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly folder: AudioFolder;
  readonly ownership: Ownership;
}

/** What makes a `start` the same as another. */
export interface RequestIdentity {
  readonly accountId: string;
  readonly requestId: string;
  readonly mode: RealtimeMode;
  readonly fingerprint: string;
}

export type Begun =
  | { readonly kind: 'begun'; readonly request: RequestRecord }
  /** It was asked for before; nothing is spoken again. */
  | { readonly kind: 'known'; readonly request: RequestRecord }
  | { readonly kind: 'conflict' };

/** The realtime requests of every process on one data directory, and their stored audio. */
export interface Requests {
  /** Begins a request once; one that failed is begun again where that is asked for (spec section 3.2). */
  begin(
    identity: RequestIdentity & { readonly format: RealtimeFormat; readonly retryFailed: boolean },
  ): Begun;
  /** The connection has ended a request, or has gone; gives false when it is no longer this process's. */
  end(request: RequestRecord, state: EndState): boolean;
  /** Ends a request as if it had never been asked for; nothing of it may be charged. */
  forget(request: RequestRecord): void;
  /** The request, if it is one of the account's. */
  find(accountId: string, requestId: string): RequestRecord | undefined;
  /** The audio of a segment that was sent whole, as long as it is kept. */
  audioOf(request: RequestRecord, segmentId: string): Promise<StoredAudio | undefined>;
  /** Removes audio whose time is over. */
  sweep(): Promise<void>;
}

export type EndState = Exclude<RequestState, 'running'>;

export function createRequests(deps: RequestsDeps): Requests {
  const { store, clock, random, folder, ownership } = deps;
  const { owner } = ownership;
  /** Requests that a connection of this process works on, with what lets go of the lease. */
  const active = new Map<string, () => void>();
  const isLeft = (db: Connection, { id, ownerId }: RequestRecord): boolean => {
    if (ownerId === undefined) return false;
    return ownerId === owner.id ? !active.has(id) : isGone(db, ownerId, owner);
  };
  const release = (id: string): void => {
    active.get(id)?.();
    active.delete(id);
  };
  const refreshed = (db: Connection, accountId: string, requestId: string) => {
    const found = findRequest(db, accountId, requestId);
    if (found === undefined || !isLeft(db, found)) return found;
    takeBack(db, found, clock.now());
    return findRequest(db, accountId, requestId);
  };
  const remove = async (id: string): Promise<void> => {
    await folder.discard(id);
    store.write((db) => keepUntil(db, id, null));
  };
  return {
    begin({ retryFailed, format, ...identity }) {
      const { accountId, requestId, mode, fingerprint } = identity;
      return store.write((db) => {
        const found = refreshed(db, accountId, requestId);
        if (found === undefined) {
          writeRequest(db, { ...identity, format, id: random.uuid(), owner, now: clock.now() });
        } else if (found.mode !== mode || found.fingerprint !== fingerprint) {
          return { kind: 'conflict' };
        } else if (found.state === 'failed_retryable' && retryFailed) {
          resumeRequest(db, found.id, owner);
        } else {
          return { kind: 'known', request: found };
        }
        const request = findRequest(db, accountId, requestId);
        if (request === undefined) throw new TypeError('a request that was begun is not there');
        active.set(request.id, ownership.hold());
        return { kind: 'begun', request };
      });
    },
    end({ id }, state) {
      release(id);
      return store.write((db) => endRequest(db, id, { owner, state }));
    },
    forget({ id }) {
      release(id);
      store.write((db) => forgetRequest(db, id));
    },
    find(accountId, requestId) {
      const seen = store.read((db) => {
        const request = findRequest(db, accountId, requestId);
        return request && { request, isLeft: isLeft(db, request) };
      });
      if (seen?.isLeft !== true) return seen?.request;
      return store.write((db) => refreshed(db, accountId, requestId));
    },
    async audioOf({ id, segments, format }, segmentId) {
      const segment = segments.find((one) => one.segmentId === segmentId);
      if (segment?.audio === undefined) return undefined;
      return folder.find(id, segmentFile(segment.number, format));
    },
    async sweep() {
      for (const id of store.read((db) => findExpired(db, clock.now()))) await remove(id);
    },
  };
}

/** Whether a process can no longer go on with what runs in its name. */
function isGone(db: Connection, ownerId: string, self: Owner): boolean {
  const row = db.get('SELECT * FROM owner WHERE id = ?', [ownerId]);
  return row === undefined || self.isDead(row);
}

/** Gives back what such a process had set aside or sent half of. */
function takeBack(db: Connection, { id, segments, ownerId }: RequestRecord, now: number): void {
  for (const { operationId } of segments) abandon(db, operationId, now);
  if (ownerId !== undefined) {
    endRequest(db, id, { owner: { id: ownerId }, state: 'failed_retryable' });
  }
}
