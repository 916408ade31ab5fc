import type { Static, TObject } from 'typebox';
import type { Endpoint } from '../../contract/endpoint.ts';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { ENDPOINTS } from '../../contract/generated/endpoints.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../../contract/limits.ts';
import { HEADERS, MESSAGE_PACK } from '../../contract/values.ts';
import type { Random } from '../../effects/random.ts';
import type { OperationKey } from '../operations/operations.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import type { FieldSchema } from './wording.ts';
import { anyOf, describeAllowed, describeRange, showText, showValue } from './wording.ts';
import { Check, Errors } from 'typebox/schema';
import { countCodePoints } from '../../text/code-points.ts';

/**
 * Reads a JSON body.
 * @throws ServiceError 415 for another type, 413 for a body above the limit, 400 for bytes that are
 * not UTF-8 or not JSON
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  requireJson(request.headers);
  return parse(decodeUtf8(await readBodyBytes(request)));
}

/**
 * Reads the body that the definition of an endpoint describes; it is not validated yet.
 * @throws ServiceError as `readJsonBody` does
 */
export async function readBody(
  request: Request,
  { ignoresNull, isBodyOptional, otherBodyType }: Endpoint,
): Promise<unknown> {
  if (isBodyOptional === true && !hasBody(request)) return {};
  const isPlain = otherBodyType === undefined || isBodyType(request.headers, 'application/json');
  const body = await (isPlain ? readJsonBody(request) : readMessagePack(request));
  return ignoresNull === true ? withoutNull(body) : body;
}

/** Clients of other interfaces write `null` for what they leave out, also within an object in the body. */
function withoutNull(body: unknown): unknown {
  return mapFields(body, (field) => mapFields(field, (inner) => inner));
}

/** An object without its fields that are `null`; anything else as it is. */
function mapFields(value: unknown, work: (field: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, work(field)]));
}

/**
 * Whether a request brings a body. One that did not come over HTTP announces none, and one that did
 * may have the stream of a body that has nothing in it.
 */
function hasBody({ body, headers }: Request): boolean {
  const isAnnounced = headers.has('Content-Length') || headers.has('Transfer-Encoding');
  if (isAnnounced) return headers.get('Content-Length') !== '0';
  return body !== null && headers.has('Content-Type');
}

function requireJson(headers: Headers): void {
  const parameters = requireBodyType(headers, ['application/json']);
  const charset = parameters.find((one) => one.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw unsupported('The body must be UTF-8');
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest([{ field: 'body', message: 'The body is not valid UTF-8' }]);
  }
}

function parse(json: string): unknown {
  if (json.trim() === '') {
    throw invalidRequest([
      { field: 'body', message: 'The body is empty; a JSON object is needed' },
    ]);
  }
  try {
    return JSON.parse(json);
  } catch {
    throw invalidRequest([{ field: 'body', message: 'The body is not valid JSON' }]);
  }
}

/** Room is made for a list before its items are read, so none may announce many. */
const MAX_LIST_LENGTH = 100;

/**
 * Reads a body of MessagePack: the same values as JSON in other bytes.
 * @throws ServiceError 415 for another type, 413 for a body above the limit, 400 for bytes that are no MessagePack
 */
async function readMessagePack(request: Request): Promise<unknown> {
  requireBodyType(request.headers, ['application/json', MESSAGE_PACK]);
  const bytes = await readBodyBytes(request);
  const { decode } = await import('@msgpack/msgpack');
  try {
    return decode(bytes, { maxArrayLength: MAX_LIST_LENGTH });
  } catch {
    throw invalidRequest([{ field: 'body', message: 'The body is not valid MessagePack' }]);
  }
}

/** Enough for the longest text and instruction with every character written as an escape pair. */
const BODY_MAX_BYTES = 256 * 1024;

/**
 * Reads a body whole.
 * @throws ServiceError 413 above the limit, 400 when it is cut off
 */
async function readBodyBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get('Content-Length') ?? 0) > BODY_MAX_BYTES) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of request.body ?? []) {
      size += part.byteLength;
      if (size > BODY_MAX_BYTES) throw tooLarge();
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidRequest([{ field: 'body', message: 'The body was cut off' }]);
  }
  return Buffer.concat(parts);
}

/**
 * Checks what a body says it is, and gives the parameters of that, such as `charset=utf-8`.
 * @throws ServiceError 415 for another type, or one that is packed
 */
export function requireBodyType(headers: Headers, allowed: readonly string[]): readonly string[] {
  const encoding = headers.get('Content-Encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding is not supported here; send the body as it is');
  }
  const [type = '', ...parameters] = typeParts(headers);
  if (allowed.includes(type)) return parameters;
  throw unsupported(`Content-Type must be ${allowed.join(' or ')}`);
}

/** Whether a body says that it is of this type. */
function isBodyType(headers: Headers, type: string): boolean {
  return typeParts(headers)[0] === type;
}

function unsupported(message: string): ServiceError {
  return new ServiceError('ERR_UNSUPPORTED_MEDIA_TYPE', message);
}

function typeParts(headers: Headers): readonly string[] {
  const value = headers.get('Content-Type') ?? '';
  return value
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
}

function tooLarge(): ServiceError {
  // Without `Connection: close`: the rest of the body is read and dropped, so that no client is reset before it reads this.
  return new ServiceError(
    'ERR_PAYLOAD_TOO_LARGE',
    `The body is larger than ${BODY_MAX_BYTES} bytes`,
  );
}

/**
 * Reads the query of a request strictly: every parameter known, given once, and of its type.
 * @throws ServiceError 400 that names what is wrong
 */
export function requireQuery<Schema extends TObject>(url: string, schema: Schema): Static<Schema> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of new URL(url).searchParams) {
    if (Object.hasOwn(values, name)) {
      throw invalidRequest([{ field: name, message: `${name} is given more than once` }]);
    }
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    Object.defineProperty(values, name, {
      value: property === undefined ? value : convert(value, property),
      enumerable: true,
    });
  }
  return requireValid(schema, values, 'The query');
}

/** A number has one spelling, so that nothing is added to a link. What cannot be converted stays text, which the schema then refuses with its name. */
function convert(value: string, schema: FieldSchema): unknown {
  if (schema.type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(value)) return Number(value);
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/**
 * The keys of a request to an endpoint: none where it accepts none, and of v1 and v2 both headers (docs/api/errors.md#idempotency).
 * @throws ServiceError 400 when a header is too long or holds anything but visible ASCII, and when a required key is missing
 */
export function requestKeysOf(
  headers: Headers,
  { isKeyedByRequestId, isKeyRequired, repeat }: Endpoint,
): Pick<OperationKey, 'idempotencyKey' | 'requestKey'> {
  if (repeat === undefined) return { idempotencyKey: undefined };
  const requestKey = keyIn(headers, HEADERS.requestId);
  const field = HEADERS.idempotencyKey;
  const idempotencyKey = keyIn(headers, field);
  if (idempotencyKey === undefined && isKeyRequired === true) {
    throw invalidRequest([{ field, message: `${field} is missing; it is required` }]);
  }
  return { idempotencyKey, requestKey: isKeyedByRequestId === true ? requestKey : undefined };
}

function keyIn(headers: Headers, field: string): string | undefined {
  const key = headers.get(field);
  if (key === null) return undefined;
  if (key.length <= IDEMPOTENCY_KEY_MAX_CHARACTERS && VISIBLE_ASCII.test(key)) return key;
  const allowed = `1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} visible ASCII characters`;
  const given = VISIBLE_ASCII.test(key) ? `has ${key.length} characters` : 'is not clean';
  throw invalidRequest([{ field, message: `${field} ${given}; allowed are ${allowed}` }]);
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The trace id of a request: the client's where it can be echoed safely, else a new one (spec 4.1). */
export function requestIdOf(headers: Headers, random: Random): string {
  const given = headers.get(HEADERS.requestId);
  return given !== null && REQUEST_ID.test(given) ? given : random.uuid();
}

/** The path of an endpoint with its parameters filled in, for addresses in answers. */
export function endpointPath(
  id: EndpointId,
  parameters: Readonly<Record<string, string | number>>,
): string {
  const endpoint = ENDPOINTS.find((one) => one.id === id);
  if (endpoint === undefined) throw new TypeError(`there is no endpoint ${id}`);
  return endpoint.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
}

/** A request that has come, and what turns out about it. */
export interface Arrival {
  readonly request: Request;
  readonly requestId: string;
  /** Whose key it has, once that is known. */
  account?: string;
}

/**
 * Gives a value back as what its schema says it is.
 * @param whole what the value is called in a message, such as `The body`
 * @throws ServiceError 400 that names every field that is wrong, what was given and what is allowed
 */
export function requireValid<Schema extends TObject>(
  schema: Schema,
  value: unknown,
  whole: string,
): Static<Schema> {
  if (Check(schema, value)) return value;
  const [first, ...others] = findProblems(schema, value, whole);
  throw invalidRequest([first ?? { field: whole, message: `${whole} is not valid` }, ...others]);
}

/** What is wrong with a value, one problem a field: what was given and what is allowed. */
export function findProblems(
  schema: TObject,
  value: unknown,
  whole: string,
): readonly FieldProblem[] {
  const unknown = new Set(unknownFields(schema, value));
  // The library lists eight errors at most, which unknown fields alone would fill.
  const known = unknown.size === 0 ? value : withoutFields(value, unknown);
  const [, errors] = Errors(schema, known);
  const problems = errors.flatMap((error) => describeError(error, { schema, value: known, whole }));
  const allowed = anyOf(Object.keys(schema.properties));
  const unknownProblems = [...unknown].map((field) => ({
    field,
    message: `${showText(field)} is not known here; allowed are ${allowed}`,
  }));
  return onePerField([...problems, ...unknownProblems]);
}

/** Names of the fields that a strict schema does not have. */
function unknownFields(schema: TObject, value: unknown): readonly string[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const isStrict = 'additionalProperties' in schema && schema.additionalProperties === false;
  if (!isStrict || !isObject) return [];
  return Object.keys(value).filter((name) => !Object.hasOwn(schema.properties, name));
}

function withoutFields(value: unknown, names: ReadonlySet<string>): unknown {
  return Object.fromEntries(Object.entries(Object(value)).filter(([name]) => !names.has(name)));
}

type SchemaError = ReturnType<typeof Errors>[1][number];

interface Checked {
  readonly schema: TObject;
  readonly value: unknown;
  readonly whole: string;
}

function describeError(error: SchemaError, checked: Checked): readonly FieldProblem[] {
  const { schema, whole } = checked;
  const path = error.instancePath.split('/').slice(1);
  const [top = ''] = path;
  // What is wrong within each of several forms says less than which forms there are.
  if (fieldSchema(schema, [top])?.anyOf !== undefined) return describeField([top], checked);
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) => {
      const field = [...path, name].join('.');
      return { field, message: `${field} is missing; it is required` };
    });
  }
  if (path.length > 0) return describeField(path, checked);
  return [
    { field: whole, message: `${whole} is ${showValue(checked.value)}; allowed is an object` },
  ];
}

function describeField(path: readonly string[], checked: Checked): readonly FieldProblem[] {
  const schema = fieldSchema(checked.schema, path);
  if (schema === undefined) return [];
  const field = path.join('.');
  const value = fieldValue(checked.value, path);
  if (typeof value === 'number' && schema.type === 'number') {
    return [{ field, message: `${field} is ${value}; allowed is ${describeRange(schema)}` }];
  }
  if (Array.isArray(value) && schema.type === 'array') {
    return [
      {
        field,
        message: `${field} has ${value.length} entries; allowed is ${describeAllowed(schema)}`,
      },
    ];
  }
  // What is said is never repeated: only names and settings are.
  const given =
    typeof value === 'string' && (hasMaxLength(schema) || value === '')
      ? `has ${countCodePoints(value)} characters`
      : `is ${showValue(value)}`;
  return [{ field, message: `${field} ${given}; allowed is ${describeAllowed(schema)}` }];
}

function hasMaxLength({ anyOf: given, maxLength }: FieldSchema): boolean {
  const forms: readonly FieldSchema[] = Array.isArray(given) ? given : [];
  return maxLength !== undefined || forms.some((form) => form.maxLength !== undefined);
}

/** The schema at the end of a path, one step into an object or a list at a time. */
function fieldSchema(schema: FieldSchema, path: readonly string[]): FieldSchema | undefined {
  return path.reduce<FieldSchema | undefined>(
    (part, name) => asSchema(own(part?.properties, name) ?? itemOf(part, name)),
    schema,
  );
}

function itemOf(part: FieldSchema | undefined, name: string): unknown {
  return /^\d+$/.test(name) ? part?.items : undefined;
}

function asSchema(value: unknown): FieldSchema | undefined {
  return typeof value === 'object' && value !== null ? value : undefined;
}

function fieldValue(whole: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, name) => own(part, name), whole);
}

/** What an object itself has under a name. */
function own(object: unknown, name: string): unknown {
  const fields = typeof object === 'object' && object !== null ? object : {};
  return new Map<string, unknown>(Object.entries(fields)).get(name);
}

function onePerField(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ field }) => !seen.has(field) && seen.add(field));
}
