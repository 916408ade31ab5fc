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
import { isAbandoned } from '../../operations/owner.ts';
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
interface RequestIdentity {
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

export type EndState = Exclude<RequestState, 'running'>;

type Asked = RequestIdentity & { readonly format: RealtimeFormat; readonly retryFailed: boolean };

/** The realtime requests of every process on one data directory, and their stored audio. */
export class Requests {
  readonly #deps: RequestsDeps;
  /** Requests that a connection of this process works on, with what lets go of the lease. */
  readonly #active = new Map<string, () => void>();

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /** Begins a request once; one that failed is begun again where that is asked for (spec section 3.2). */
  begin(asked: Asked): Begun {
    const { store, ownership } = this.#deps;
    const begun = store.write((db) => this.#begin(db, asked));
    if (begun.kind === 'begun') this.#active.set(begun.request.id, ownership.hold());
    // What comes later is not worth waiting for.
    void this.sweep().catch(() => undefined);
    return begun;
  }

  /** The connection has ended a request, or has gone; gives false when it is no longer this process's. */
  end({ id }: RequestRecord, state: EndState): boolean {
    const { store, ownership } = this.#deps;
    this.#release(id);
    return store.write((db) => endRequest(db, id, { owner: ownership.owner, state }));
  }

  /** Ends a request as if it had never been asked for; nothing of it may be charged. */
  forget({ id }: RequestRecord): void {
    this.#release(id);
    this.#deps.store.write((db) => forgetRequest(db, id));
  }

  /** The request, if it is one of the account's. */
  find(accountId: string, requestId: string): RequestRecord | undefined {
    const { store } = this.#deps;
    const seen = store.read((db) => {
      const request = findRequest(db, accountId, requestId);
      return request && { request, isLeft: this.#isLeft(db, request) };
    });
    if (seen?.isLeft !== true) return seen?.request;
    return store.write((db) => this.#refreshed(db, accountId, requestId));
  }

  /** The audio of a segment that was sent whole, as long as it is kept. */
  async audioOf(
    { id, segments, format, storedUntil = 0 }: RequestRecord,
    segmentId: string,
  ): Promise<StoredAudio | undefined> {
    if (storedUntil <= this.#deps.clock.now()) return undefined;
    const segment = segments.find((one) => one.segmentId === segmentId);
    if (segment?.audio === undefined) return undefined;
    return this.#deps.folder.find(id, segmentFile(segment.number, format));
  }

  /** Removes audio whose time is over. */
  async sweep(): Promise<void> {
    const { store, clock, folder } = this.#deps;
    for (const id of store.read((db) => findExpired(db, clock.now()))) {
      await folder.discard(id);
      store.write((db) => keepUntil(db, id, null));
    }
  }

  #begin(db: Connection, { retryFailed, format, ...identity }: Asked): Begun {
    const { random, clock, ownership } = this.#deps;
    const { owner } = ownership;
    const { accountId, requestId, mode, fingerprint } = identity;
    const found = this.#refreshed(db, accountId, requestId);
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
    return { kind: 'begun', request };
  }

  /** What is there, after whatever a process left that cannot go on was given back. */
  #refreshed(db: Connection, accountId: string, requestId: string): RequestRecord | undefined {
    const found = findRequest(db, accountId, requestId);
    if (found === undefined || !this.#isLeft(db, found)) return found;
    takeBack(db, found, this.#deps.clock.now());
    return findRequest(db, accountId, requestId);
  }

  #isLeft(db: Connection, { id, ownerId }: RequestRecord): boolean {
    const { owner } = this.#deps.ownership;
    if (ownerId === undefined) return false;
    return ownerId === owner.id ? !this.#active.has(id) : isAbandoned(db, ownerId, owner);
  }

  #release(id: string): void {
    this.#active.get(id)?.();
    this.#active.delete(id);
  }
}

/** Gives back what a process that cannot go on had set aside or sent half of. */
function takeBack(db: Connection, { id, segments, ownerId }: RequestRecord, now: number): void {
  for (const { operationId } of segments) abandon(db, operationId, now);
  if (ownerId !== undefined) {
    endRequest(db, id, { owner: { id: ownerId }, state: 'failed_retryable' });
  }
}
