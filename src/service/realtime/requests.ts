import type {
  RealtimeFormat,
  RealtimeMode,
  RequestState,
} from '../../contract/realtime/protocols.ts';
import {
  REALTIME_FORMATS,
  REALTIME_MODES,
  REQUEST_STATES,
} from '../../contract/realtime/protocols.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import { abandon } from '../operations/operations.ts';
import { isAbandoned } from '../operations/owner.ts';
import type { Owner, Ownership } from '../operations/owner.ts';
import type { AudioFolder, StoredAudio } from '../speech/audio-files.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, optionalInteger, optionalText, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { StatusFields, EarlierSegment } from './machine/state.ts';

interface RequestsDeps {
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

type Begun =
  | { readonly kind: 'begun'; readonly request: RequestRecord }
  /** It was asked for before; nothing is spoken again. */
  | { readonly kind: 'known'; readonly request: RequestRecord }
  | { readonly kind: 'conflict' };

type EndState = Exclude<RequestState, 'running'>;

type Asked = RequestIdentity & { readonly format: RealtimeFormat; readonly retryFailed: boolean };

/** The realtime requests of every process on one data directory, and their stored audio. */
export class Requests {
  readonly #deps: RequestsDeps;
  /** Requests that a connection of this process works on, with what lets go of the lease. */
  readonly #active = new Map<string, () => void>();

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /** Begins a request once; one that failed is begun again where that is asked for (docs/api/realtime.md#request-states). */
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

/** A request of realtime speech, as it is written down. */
export interface RequestRecord {
  readonly id: string;
  readonly accountId: string;
  /** By which its client names it. */
  readonly requestId: string;
  readonly mode: RealtimeMode;
  /** Digest of what was asked for. */
  readonly fingerprint: string;
  readonly format: RealtimeFormat;
  readonly state: RequestState;
  readonly ownerId: string | undefined;
  /** Milliseconds since the epoch until which audio of it is kept, where any is. */
  readonly storedUntil: number | undefined;
  readonly segments: readonly SegmentRecord[];
}

interface SegmentRecord {
  /** From 1. */
  readonly number: number;
  readonly segmentId: string;
  /** Numbers of its text events. */
  readonly sequences: readonly number[];
  readonly textDigest: string;
  readonly characters: number;
  readonly operationId: string;
  /** What its operation is, and whether it is paid for. */
  readonly operationState: string;
  readonly isCharged: boolean;
  /** All of its audio, once that was sent; 0 for a text that holds nothing to say. */
  readonly audio: { readonly bytes: number; readonly frames: number } | undefined;
}

/** The request of an account under this id, with its segments in order. */
function findRequest(
  db: Connection,
  accountId: string,
  requestId: string,
): RequestRecord | undefined {
  const row = db.get('SELECT * FROM realtime_request WHERE account_id = ? AND request_id = ?', [
    accountId,
    requestId,
  ]);
  return row === undefined ? undefined : recordOf(db, row);
}

type NewRequest = Omit<RequestRecord, 'state' | 'ownerId' | 'storedUntil' | 'segments'> & {
  readonly owner: Owner;
  readonly now: number;
};

function writeRequest(db: Connection, request: NewRequest): void {
  const { id, accountId, requestId, mode, fingerprint, format, owner, now } = request;
  owner.renew(db);
  db.run(
    `INSERT INTO realtime_request (id, account_id, request_id, mode, fingerprint, format, state,
       owner_id, created_at) VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?)`,
    [id, accountId, requestId, mode, fingerprint, format, owner.id, now],
  );
}

/** Takes up a request that had failed. */
function resumeRequest(db: Connection, id: string, owner: Owner): void {
  owner.renew(db);
  db.run("UPDATE realtime_request SET state = 'running', owner_id = ? WHERE id = ?", [
    owner.id,
    id,
  ]);
}

/** Ends a request of this owner; gives false when it is no longer this one's. */
function endRequest(
  db: Connection,
  id: string,
  end: { readonly owner: Pick<Owner, 'id'>; readonly state: Exclude<RequestState, 'running'> },
): boolean {
  const changed = db.run(
    'UPDATE realtime_request SET state = ?, owner_id = NULL WHERE id = ? AND owner_id = ?',
    [end.state, id, end.owner.id],
  );
  return changed > 0;
}

/** As if it had never been asked for; what its segments cost was given back before. */
function forgetRequest(db: Connection, id: string): void {
  db.run('DELETE FROM realtime_segment WHERE request = ?', [id]);
  db.run('DELETE FROM realtime_request WHERE id = ?', [id]);
}

type NewSegment = Pick<
  SegmentRecord,
  'number' | 'segmentId' | 'sequences' | 'textDigest' | 'characters' | 'operationId'
>;

/** Writes a segment, or what is paid for it now where it was there before. */
export function writeSegment(db: Connection, request: string, segment: NewSegment): void {
  const { number, segmentId, sequences, textDigest, characters, operationId } = segment;
  db.run(
    `INSERT INTO realtime_segment (request, number, segment_id, sequences, text_digest, characters,
       operation_id)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
     ON CONFLICT (request, segment_id) DO UPDATE SET operation_id = ?7`,
    [request, number, segmentId, JSON.stringify(sequences), textDigest, characters, operationId],
  );
}

/** All of its audio was sent. */
export function completeSegment(
  db: Connection,
  request: string,
  { segmentId, bytes, frames }: { segmentId: string; bytes: number; frames: number },
): void {
  db.run(
    `UPDATE realtime_segment SET audio_bytes = ?, audio_frames = ?
     WHERE request = ? AND segment_id = ?`,
    [bytes, frames, request, segmentId],
  );
}

/** The credits that stand charged for the segments of a request. */
export function chargedCredits(db: Connection, request: string): number {
  const row = db.get(
    `SELECT COALESCE(SUM(reservation.credits), 0) AS credits FROM realtime_segment
       JOIN reservation ON reservation.id = operation_id
     WHERE request = ? AND reservation.state = 'committed'`,
    [request],
  );
  return row === undefined ? 0 : integer(row, 'credits');
}

/** Notes until when audio of a request is kept. */
export function keepUntil(db: Connection, id: string, storedUntil: number | null): void {
  db.run('UPDATE realtime_request SET stored_until = ? WHERE id = ?', [storedUntil, id]);
}

/** Requests whose audio is kept for no longer, but for those that are spoken just now. */
function findExpired(db: Connection, now: number): readonly string[] {
  return db
    .all("SELECT id FROM realtime_request WHERE stored_until <= ? AND state <> 'running'", [now])
    .map((row) => text(row, 'id'));
}

function recordOf(db: Connection, row: Row): RequestRecord {
  const id = text(row, 'id');
  const segments = db.all(
    `SELECT realtime_segment.*, operation.state AS operation_state, reservation.state AS paid
     FROM realtime_segment
       JOIN operation ON operation.id = operation_id
       JOIN reservation ON reservation.id = operation_id
     WHERE request = ? ORDER BY number`,
    [id],
  );
  return {
    id,
    accountId: text(row, 'account_id'),
    requestId: text(row, 'request_id'),
    mode: oneOf(REALTIME_MODES, row, 'mode'),
    fingerprint: text(row, 'fingerprint'),
    format: oneOf(REALTIME_FORMATS, row, 'format'),
    state: oneOf(REQUEST_STATES, row, 'state'),
    ownerId: optionalText(row, 'owner_id'),
    storedUntil: optionalInteger(row, 'stored_until'),
    segments: segments.map((segment) => segmentOf(segment)),
  };
}

function segmentOf(row: Row): SegmentRecord {
  const bytes = optionalInteger(row, 'audio_bytes');
  const frames = optionalInteger(row, 'audio_frames');
  return {
    number: integer(row, 'number'),
    segmentId: text(row, 'segment_id'),
    sequences: numbersIn(text(row, 'sequences')),
    textDigest: text(row, 'text_digest'),
    characters: integer(row, 'characters'),
    operationId: text(row, 'operation_id'),
    operationState: text(row, 'operation_state'),
    isCharged: text(row, 'paid') === 'committed',
    audio: bytes === undefined || frames === undefined ? undefined : { bytes, frames },
  };
}

function numbersIn(json: string): readonly number[] {
  const numbers: unknown = JSON.parse(json);
  return Array.isArray(numbers) ? numbers.map(Number) : [];
}

function oneOf<Word extends string>(words: readonly Word[], row: Row, column: string): Word {
  const found = words.find((word) => word === row[column]);
  if (found === undefined) throw new TypeError(`${column} ${text(row, column)} is unknown`);
  return found;
}

/**
 * What is told of a request (docs/api/realtime.md#request-states and docs/api/realtime.md), over the connection and over HTTP.
 * @param now milliseconds since the epoch
 */
export function statusOf(
  request: RequestRecord,
  now: number,
): StatusFields & { readonly requestId: string } {
  const { requestId, state, segments, storedUntil = 0 } = request;
  const resultAvailable = storedUntil > now;
  return {
    requestId,
    state,
    retryable: state === 'failed_retryable',
    units: segments.reduce((sum, segment) => sum + unitsOf(segment), 0),
    resultAvailable,
    ...(resultAvailable ? { segments: segments.map((one) => manifestRow(one, state)) } : {}),
  };
}

/** The billable units that a segment was charged: its characters, nothing for one without a word. */
function unitsOf({ isCharged, characters }: SegmentRecord): number {
  return isCharged ? characters : 0;
}

/** What a connection that goes on with a request has to know of its segments. */
export function earlierSegments({ segments }: RequestRecord): readonly EarlierSegment[] {
  return segments.map((segment) => ({
    segmentId: segment.segmentId,
    sequences: segment.sequences,
    textDigest: segment.textDigest,
    units: unitsOf(segment),
    audioBytes: segment.audio?.bytes,
  }));
}

function manifestRow(segment: SegmentRecord, requestState: RequestState) {
  const { segmentId, sequences, characters, audio } = segment;
  const sequence = sequences.at(-1);
  const unfinished = requestState === 'running' ? 'running' : 'failed_retryable';
  return {
    segmentId,
    state: audio === undefined ? unfinished : 'completed',
    ...(sequence === undefined ? {} : { sequence }),
    characters,
    units: unitsOf(segment),
    ...(audio === undefined ? {} : { audioBytes: audio.bytes }),
  } as const;
}

/** The file of a segment's audio in the folder of its request. */
export function segmentFile(number: number, format: RealtimeFormat): string {
  return `segment-${number}.${format}`;
}
