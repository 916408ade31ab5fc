import assert from 'node:assert/strict';
import type { Answer, ServiceUnderTest } from './service-under-test.ts';

/** The types that the spec gives to fields; `instant` is an ISO 8601 timestamp. */
const IS = {
  boolean: (value) => typeof value === 'boolean',
  id: (value) => typeof value === 'string' && value !== '',
  instant: (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && isMoment(value),
  integer: Number.isSafeInteger,
  list: Array.isArray,
  number: Number.isFinite,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  status: (value) => /^(pending|processing|success|partial_fail|fail)$/.test(String(value)),
  string: (value) => typeof value === 'string',
  'string[]': (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'null or integer': (value) => value === null || Number.isSafeInteger(value),
  'null or object': (value) => typeof value === 'object' && !Array.isArray(value),
  'null or string': (value) => value === null || typeof value === 'string',
} satisfies Record<string, (value: unknown) => boolean>;

type FieldType = keyof typeof IS;

/** @throws Error if there is no such type */
export function fieldType(name: string): FieldType {
  if (!isFieldType(name)) throw new Error(`There is no type "${name}" of a field.`);
  return name;
}

function isFieldType(name: string): name is FieldType {
  return Object.hasOwn(IS, name);
}

export function claimType(value: unknown, type: FieldType, where: string): void {
  assert.ok(IS[type](value), `${where} is ${JSON.stringify(value)}, which is no ${type}`);
}

/** What stands at `task.delivery.playbackUrl`; `items.0` is the first of a list. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((part, name) => new Map(Object.entries(Object(part))).get(name), value);
}

export function claimStatus(answer: Answer, ...allowed: readonly number[]): void {
  const shown = answer.bytes.subarray(0, 300).toString();
  assert.ok(
    allowed.includes(answer.status),
    `status ${answer.status}, not ${allowed.join('/')}: ${shown}`,
  );
}

/** Codes that the spec names; others are a choice of each service. */
const NAMED =
  /^ERR_(REQUEST_(ID_CONFLICT|ALREADY_COMPLETED|IN_PROGRESS|PREVIOUSLY_REFUNDED)|INVALID_REQUEST)$/;

/** The error body of section 7, with the code where the spec or we name it. */
export function claimRefused(
  answer: Answer,
  status: number,
  code: string,
  { isOurs }: Pick<ServiceUnderTest, 'isOurs'>,
): void {
  claimStatus(answer, status);
  const body = answer.json();
  for (const field of ['code', 'message', 'requestId']) claimType(at(body, field), 'id', field);
  if (!isOurs && !NAMED.test(code)) return;
  // The spec shows this one under two names.
  const allowed = code === 'ERR_INVALID_REQUEST' && !isOurs ? [code, 'invalid_request'] : [code];
  assert.ok(
    allowed.includes(String(at(body, 'code'))),
    `code ${String(at(body, 'code'))}, not ${code}`,
  );
}

/** The names of the invalid fields in the response of our service. */
export function claimNames(
  answer: Answer,
  field: string,
  { isOurs }: Pick<ServiceUnderTest, 'isOurs'>,
): void {
  if (!isOurs) return;
  const errors = at(answer.json(), 'details.errors');
  const named = Array.isArray(errors) ? errors.map((error) => at(error, 'field')) : [];
  assert.ok(
    named.includes(field),
    `the fields named are ${JSON.stringify(named)}, without ${field}`,
  );
}

export function claimAudio(answer: Answer, type: RegExp = /^audio\//): void {
  claimStatus(answer, 200);
  assert.match(answer.header('Content-Type') ?? '', type);
  assert.ok(answer.bytes.length > 100, `${answer.bytes.length} bytes are no audio`);
}

function isMoment(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
