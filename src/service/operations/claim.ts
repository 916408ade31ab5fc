import { createHash } from 'node:crypto';
import type { Amounts } from '../ledger/ledger.ts';
import { reserve } from '../ledger/ledger.ts';
import type { Connection, Row } from '../store/connection.ts';
import { optionalText, text } from '../store/connection.ts';
import { abandon } from './operation.ts';
import type { Owner } from './owner.ts';

/** A paid request, with or without an idempotency key. */
export interface OperationRequest {
  readonly accountId: string;
  /** Endpoint id; a key that comes again at another endpoint is a conflict. */
  readonly endpoint: string;
  readonly idempotencyKey: string | undefined;
  /** The `X-Request-Id` where it is a key too (docs/api/errors.md#idempotency). */
  readonly requestKey?: string | undefined;
  /** Digest of what was asked for. */
  readonly fingerprint: string;
  readonly requestId: string;
  readonly charge: Amounts;
}

/** What tells a request from others. */
export type OperationKey = Omit<OperationRequest, 'charge' | 'requestId'>;

type OperationState = 'in_progress' | 'completed' | 'refunded';

/** What became of an earlier request under the same key. */
export interface UsedKey {
  readonly kind: 'conflict' | OperationState;
  /** Why it was refunded, where that is known. */
  readonly failure?: string | undefined;
}

/** Why an operation does not begin (docs/api/errors.md#idempotency). */
export type Refusal = { readonly kind: 'insufficient'; readonly available: Amounts } | UsedKey;

interface ClaimContext {
  readonly id: string;
  readonly owner: Owner;
  readonly now: number;
  /** `completed` where a job that is written in the same transaction answers for the charge. */
  readonly state?: 'in_progress' | 'completed';
}

/**
 * Claims the key of a request and reserves its charge, both or neither, inside the caller's
 * transaction. Gives the reason where it does not.
 */
export function claim(
  db: Connection,
  context: ClaimContext,
  request: OperationRequest,
): Refusal | undefined {
  const earlier = findByKey(db, request);
  if (earlier !== undefined) return replay(db, context, earlier, request);
  const { id, owner, now, state = 'in_progress' } = context;
  const { accountId, endpoint, idempotencyKey, requestKey, fingerprint, requestId, charge } =
    request;
  const reserved = reserve(db, { id, accountId, amounts: charge }, now);
  if (reserved.kind === 'insufficient') return reserved;
  owner.renew(db);
  db.run(
    `INSERT INTO operation (id, account_id, endpoint, idempotency_key, request_key, fingerprint,
       state, owner_id, request_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      accountId,
      endpoint,
      idempotencyKey ?? requestKey ?? null,
      idempotencyKey === undefined ? null : (requestKey ?? null),
      fingerprint,
      state,
      state === 'in_progress' ? owner.id : null,
      requestId,
      now,
    ],
  );
  return undefined;
}

/**
 * The operation that used a key of this request, if one did (docs/api/errors.md#idempotency). Of two keys the
 * `Idempotency-Key` counts, unless the same request was made under the other one.
 */
export function findByKey(db: Connection, request: OperationKey): Row | undefined {
  const { accountId, idempotencyKey, requestKey } = request;
  const madeUnder = (key: string): Row | undefined =>
    db.get('SELECT * FROM operation WHERE account_id = ? AND idempotency_key = ?', [
      accountId,
      key,
    ]);
  const earlier = idempotencyKey === undefined ? undefined : madeUnder(idempotencyKey);
  if (earlier !== undefined || requestKey === undefined) return earlier;
  const made = madeUnder(requestKey);
  if (idempotencyKey === undefined) return made ?? findBesideKey(db, request, requestKey);
  return made !== undefined && isSameRequest(made, request) ? made : undefined;
}

/** The newest operation that had this `X-Request-Id` beside its `Idempotency-Key`: of the same request, if there is one. */
function findBesideKey(
  db: Connection,
  { accountId, endpoint, fingerprint }: OperationKey,
  requestKey: string,
): Row | undefined {
  return db.get(
    `SELECT * FROM operation WHERE account_id = ? AND request_key = ?
     ORDER BY endpoint = ? AND fingerprint = ? DESC, rowid DESC LIMIT 1`,
    [accountId, requestKey, endpoint, fingerprint],
  );
}

/** Whether this asks for what that operation was asked for. */
export function isSameRequest(
  earlier: Row,
  { endpoint, fingerprint }: Pick<OperationRequest, 'endpoint' | 'fingerprint'>,
): boolean {
  return text(earlier, 'endpoint') === endpoint && text(earlier, 'fingerprint') === fingerprint;
}

/** The same request, begun before. */
export interface EarlierRequest extends UsedKey {
  readonly kind: OperationState;
}

/** How far the same request is that was begun under this key, if it was. */
export function findBegun(
  db: Connection,
  context: Pick<ClaimContext, 'owner' | 'now'>,
  request: OperationKey,
): EarlierRequest | undefined {
  const earlier = findByKey(db, request);
  if (earlier === undefined || !isSameRequest(earlier, request)) return undefined;
  return currentState(db, context, earlier);
}

function replay(
  db: Connection,
  context: ClaimContext,
  earlier: Row,
  request: OperationRequest,
): Refusal {
  if (!isSameRequest(earlier, request)) return { kind: 'conflict' };
  return currentState(db, context, earlier);
}

/** What a process that is gone had begun is given back now. */
function currentState(
  db: Connection,
  { owner, now }: Pick<ClaimContext, 'owner' | 'now'>,
  earlier: Row,
): EarlierRequest {
  const kind = stateOf(earlier);
  const failure = optionalText(earlier, 'failure');
  if (kind !== 'in_progress' || !ownerIsDead(db, owner, earlier)) return { kind, failure };
  abandon(db, text(earlier, 'id'), now);
  return { kind: 'refunded' };
}

function ownerIsDead(db: Connection, owner: Owner, operation: Row): boolean {
  const row = db.get('SELECT * FROM owner WHERE id = ?', [text(operation, 'owner_id')]);
  return row !== undefined && owner.isDead(row);
}

function stateOf(row: Row): OperationState {
  const state = text(row, 'state');
  if (state === 'in_progress' || state === 'completed' || state === 'refunded') return state;
  throw new TypeError(`operation state ${state} is unknown`);
}

/**
 * Digest of what a request asks for. The order of the fields and the white space between them do
 * not count; every value but `undefined` does.
 */
export function fingerprintOf(body: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(body)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
