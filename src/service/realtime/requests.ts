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
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import { abandon } from '../operations/operations.ts';
import { isAbandoned } from '../operations/owner.ts';
import type { Ownership } from '../operations/owner.ts';
import type { AudioFolder, StoredAudio } from '../speech/audio-files.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, oneOf, optionalInteger, optionalText, text } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { StatusFields, EarlierSegment } from './machine/state.ts';

interface RequestsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly audio: AudioFolder;
}

// A `start` with equal parameters resumes the request.
interface RequestParameters {
  readonly accountId: string;
  readonly requestId: string;
  readonly mode: RealtimeMode;
  readonly fingerprint: string;
  readonly format: RealtimeFormat;
}

type StartResult =
  | { readonly kind: 'started'; readonly request: RequestRecord }
  /** The request already exists and is not resumed. */
  | { readonly kind: 'known'; readonly request: RequestRecord }
  | { readonly kind: 'conflict' };

type EndState = Exclude<RequestState, 'running'>;

/** Stores realtime requests and their audio, for all processes that share a data directory. */
export class Requests {
  readonly #deps: RequestsDeps;
  readonly #ownership: Ownership;
  // The requests that run in this process; each function releases the lease.
  readonly #active = new Map<string, () => void>();

  constructor(deps: RequestsDeps, ownership: Ownership) {
    this.#deps = deps;
    this.#ownership = ownership;
  }

  /** Starts a realtime request. If `retryFailed` is true, resumes a request that failed and can be retried. */
  start(parameters: RequestParameters & { readonly retryFailed: boolean }): StartResult {
    const result = this.#deps.store.write((db) => this.#start(db, parameters));
    if (result.kind === 'started') this.#active.set(result.request.id, this.#ownership.hold());
    // The result does not depend on the cleanup.
    void this.sweep().catch(() => undefined);
    return result;
  }

  /** Ends a request that this process owns. Returns false if another process has already ended the request. */
  end({ id }: RequestRecord, state: EndState): boolean {
    this.#release(id);
    const { owner } = this.#ownership;
    return this.#deps.store.write((db) => endRequest(db, id, owner.id, state));
  }

  /** Deletes a request that was not charged. */
  delete({ id }: RequestRecord): void {
    this.#release(id);
    this.#deps.store.write((db) => {
      db.run('DELETE FROM realtime_segment WHERE request = ?', [id]);
      db.run('DELETE FROM realtime_request WHERE id = ?', [id]);
    });
  }

  find(accountId: string, requestId: string): RequestRecord | undefined {
    const { store } = this.#deps;
    const seen = store.read((db) => {
      const request = findRequest(db, accountId, requestId);
      return request && { request, isOrphaned: this.#isOrphaned(db, request) };
    });
    if (seen?.isOrphaned !== true) return seen?.request;
    return store.write((db) => this.#refreshed(db, accountId, requestId));
  }

  /** Returns the stored audio of a completed segment; `undefined` after the audio has expired. */
  async audioOf(
    { id, segments, format, storedUntil = 0 }: RequestRecord,
    segmentId: string,
  ): Promise<StoredAudio | undefined> {
    if (storedUntil <= this.#deps.clock.now()) return undefined;
    const segment = segments.find((one) => one.segmentId === segmentId);
    if (segment?.audio === undefined) return undefined;
    return this.#deps.audio.find(id, segmentFile(segment.number, format));
  }

  /** Deletes the expired audio of requests that are not running. */
  async sweep(): Promise<void> {
    const { store, clock, audio } = this.#deps;
    const expired = store.read((db) =>
      db.all("SELECT id FROM realtime_request WHERE stored_until <= ? AND state <> 'running'", [
        clock.now(),
      ]),
    );
    for (const row of expired) {
      const id = text(row, 'id');
      await audio.discard(id);
      store.write((db) => setStoredUntil(db, id, null));
    }
  }

  #start(
    db: Connection,
    { retryFailed, ...parameters }: RequestParameters & { readonly retryFailed: boolean },
  ): StartResult {
    const { random, clock } = this.#deps;
    const { owner } = this.#ownership;
    const { accountId, requestId, mode, fingerprint, format } = parameters;
    const found = this.#refreshed(db, accountId, requestId);
    if (found === undefined) {
      owner.renew(db);
      db.insert('realtime_request', {
        id: random.uuid(),
        account_id: accountId,
        request_id: requestId,
        mode,
        fingerprint,
        format,
        state: 'running',
        owner_id: owner.id,
        created_at: clock.now(),
      });
    } else if (found.mode !== mode || found.fingerprint !== fingerprint) {
      return { kind: 'conflict' };
    } else if (found.state === 'failed_retryable' && retryFailed) {
      owner.renew(db);
      const values = [owner.id, found.id];
      db.run("UPDATE realtime_request SET state = 'running', owner_id = ? WHERE id = ?", values);
    } else {
      return { kind: 'known', request: found };
    }
    const request = findRequest(db, accountId, requestId);
    if (request === undefined) throw new TypeError('the started request is missing');
    return { kind: 'started', request };
  }

  // If the process that ran the request is dead, its unfinished segments are refunded.
  #refreshed(db: Connection, accountId: string, requestId: string): RequestRecord | undefined {
    const found = findRequest(db, accountId, requestId);
    if (found?.ownerId === undefined || !this.#isOrphaned(db, found)) return found;
    for (const { operationId } of found.segments) abandon(db, operationId, this.#deps.clock.now());
    endRequest(db, found.id, found.ownerId, 'failed_retryable');
    return findRequest(db, accountId, requestId);
  }

  #isOrphaned(db: Connection, { id, ownerId }: RequestRecord): boolean {
    const { owner } = this.#ownership;
    if (ownerId === undefined) return false;
    return ownerId === owner.id ? !this.#active.has(id) : isAbandoned(db, ownerId, owner);
  }

  #release(id: string): void {
    this.#active.get(id)?.();
    this.#active.delete(id);
  }
}

export interface RequestRecord {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly mode: RealtimeMode;
  readonly fingerprint: string;
  readonly format: RealtimeFormat;
  readonly state: RequestState;
  readonly ownerId: string | undefined;
  /** Expiry time of the stored audio, in milliseconds since the epoch; `undefined` if no audio is stored. */
  readonly storedUntil: number | undefined;
  readonly segments: readonly StoredSegment[];
}

interface NewSegment {
  /** Number of the segment in the request, from 1. */
  readonly number: number;
  readonly segmentId: string;
  /** Sequence numbers of the segment's `text` messages. */
  readonly sequences: readonly number[];
  readonly textDigest: string;
  readonly characters: number;
  readonly operationId: string;
}

interface StoredSegment extends NewSegment {
  readonly isCharged: boolean;
  /** Size of the audio; `undefined` if the audio was not sent completely. */
  readonly audio: SegmentSize | undefined;
}

export interface SegmentSize {
  readonly bytes: number;
  readonly frames: number;
}

/** The audio size of a segment that contains no words. */
export const NO_AUDIO: SegmentSize = { bytes: 0, frames: 0 };

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

function endRequest(db: Connection, id: string, ownerId: string, state: EndState): boolean {
  const changed = db.run(
    'UPDATE realtime_request SET state = ?, owner_id = NULL WHERE id = ? AND owner_id = ?',
    [state, id, ownerId],
  );
  return changed > 0;
}

/** Stores a segment. If the segment is already stored, updates only the id of its billing record (operation). */
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

/** Stores the size of a segment's audio, after the whole audio was sent. */
export function completeSegment(
  db: Connection,
  request: string,
  segmentId: string,
  { bytes, frames }: SegmentSize,
): void {
  db.run(
    `UPDATE realtime_segment SET audio_bytes = ?, audio_frames = ?
     WHERE request = ? AND segment_id = ?`,
    [bytes, frames, request, segmentId],
  );
}

/** Returns the credits that were charged for a request so far. */
export function chargedCredits(db: Connection, request: string): number {
  const row = db.get(
    `SELECT COALESCE(SUM(reservation.credits), 0) AS credits FROM realtime_segment
       JOIN reservation ON reservation.id = operation_id
     WHERE request = ? AND reservation.state = 'committed'`,
    [request],
  );
  return row === undefined ? 0 : integer(row, 'credits');
}

export function setStoredUntil(db: Connection, id: string, storedUntil: number | null): void {
  db.run('UPDATE realtime_request SET stored_until = ? WHERE id = ?', [storedUntil, id]);
}

function recordOf(db: Connection, row: Row): RequestRecord {
  const id = text(row, 'id');
  const segments = db.all(
    `SELECT realtime_segment.*, reservation.state AS paid
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

function segmentOf(row: Row): StoredSegment {
  const bytes = optionalInteger(row, 'audio_bytes');
  const frames = optionalInteger(row, 'audio_frames');
  return {
    number: integer(row, 'number'),
    segmentId: text(row, 'segment_id'),
    sequences: numbersIn(text(row, 'sequences')),
    textDigest: text(row, 'text_digest'),
    characters: integer(row, 'characters'),
    operationId: text(row, 'operation_id'),
    isCharged: text(row, 'paid') === 'committed',
    audio: bytes === undefined || frames === undefined ? undefined : { bytes, frames },
  };
}

function numbersIn(json: string): readonly number[] {
  const numbers: unknown = JSON.parse(json);
  return Array.isArray(numbers) ? numbers.map(Number) : [];
}

/**
 * Returns the status of a request, as sent in `request_status` and over HTTP (docs/api/realtime.md#request-states).
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

function unitsOf({ isCharged, characters }: StoredSegment): number {
  return isCharged ? characters : 0;
}

/** Returns the segments of a request that were accepted on its earlier connections. */
export function earlierSegments({ segments }: RequestRecord): readonly EarlierSegment[] {
  return segments.map((segment) => ({
    segmentId: segment.segmentId,
    sequences: segment.sequences,
    textDigest: segment.textDigest,
    units: unitsOf(segment),
    audioBytes: segment.audio?.bytes,
  }));
}

function manifestRow(segment: StoredSegment, requestState: RequestState) {
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

/** Returns the file name of a segment's audio, in the folder of its request. */
export function segmentFile(number: number, format: RealtimeFormat): string {
  return `segment-${number}.${format}`;
}
