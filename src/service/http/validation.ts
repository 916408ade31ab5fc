import type { Static, TObject } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';

/**
 * Validates a value and returns it with the type of its schema.
 * @param valueName name of the complete value in error messages, such as `The body`
 * @throws ServiceError 400 that lists every invalid field
 */
export function requireValid<Schema extends TObject>(
  schema: Schema,
  value: unknown,
  valueName: string,
): Static<Schema> {
  if (Check(schema, value)) return value;
  const [first, ...others] = findProblems(schema, value, valueName);
  throw invalidRequest([
    first ?? { field: valueName, message: `${valueName} is invalid` },
    ...others,
  ]);
}

/** Checks a value against a schema and returns one problem for each invalid field. */
export function findProblems(
  schema: TObject,
  value: unknown,
  valueName: string,
): readonly FieldProblem[] {
  const unknown = unknownFields(schema, value);
  // The library lists at most eight errors; unknown fields must not fill the list.
  const known =
    unknown.length === 0
      ? value
      : Object.fromEntries(
          Object.entries(Object(value)).filter(([name]) => !unknown.includes(name)),
        );
  const [, errors] = Errors(schema, known);
  const allowed = anyOf(Object.keys(schema.properties));
  const problems = [
    ...errors.flatMap((error) => describeError(error, { schema, value: known, valueName })),
    ...unknown.map((field) => ({
      field,
      message: `${showText(field)} is unknown; allowed: ${allowed}`,
    })),
  ];
  const seen = new Set<string>();
  return problems.filter(({ field }) => !seen.has(field) && seen.add(field));
}

function unknownFields(schema: TObject, value: unknown): readonly string[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const isStrict = 'additionalProperties' in schema && schema.additionalProperties === false;
  if (!isStrict || !isObject) return [];
  return Object.keys(value).filter((name) => !Object.hasOwn(schema.properties, name));
}

interface Checked {
  readonly schema: TObject;
  readonly value: unknown;
  readonly valueName: string;
}

function describeError(
  error: ReturnType<typeof Errors>[1][number],
  checked: Checked,
): readonly FieldProblem[] {
  const { schema, value, valueName } = checked;
  const path = error.instancePath.split('/').slice(1);
  const [top = ''] = path;
  // A list of the allowed forms is clearer than the errors of each form.
  if (fieldSchema(schema, [top])?.anyOf !== undefined) return describeField([top], checked);
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) => {
      const field = [...path, name].join('.');
      return { field, message: `${field} is missing; it is required` };
    });
  }
  if (path.length > 0) return describeField(path, checked);
  return [{ field: valueName, message: `${valueName} is ${showValue(value)}; allowed: an object` }];
}

function describeField(path: readonly string[], checked: Checked): readonly FieldProblem[] {
  const schema = fieldSchema(checked.schema, path);
  if (schema === undefined) return [];
  const field = path.join('.');
  const value = path.reduce<unknown>((part, name) => own(part, name), checked.value);
  const isNumber = typeof value === 'number' && schema.type === 'number';
  const allowed = isNumber ? describeRange(schema) : describeAllowed(schema);
  return [{ field, message: `${field} ${describeGiven(value, schema)}; allowed: ${allowed}` }];
}

// A text of limited length is described by its length.
function describeGiven(value: unknown, schema: FieldSchema): string {
  if (Array.isArray(value) && schema.type === 'array') return `has ${value.length} entries`;
  const forms: readonly FieldSchema[] = Array.isArray(schema.anyOf) ? schema.anyOf : [schema];
  const isText = value === '' || forms.some(({ maxLength }) => maxLength !== undefined);
  return typeof value === 'string' && isText
    ? `has ${countCodePoints(value)} characters`
    : `is ${showValue(value)}`;
}

function fieldSchema(schema: FieldSchema, path: readonly string[]): FieldSchema | undefined {
  return path.reduce<FieldSchema | undefined>((part, name) => {
    const found = own(part?.properties, name) ?? (/^\d+$/.test(name) ? part?.items : undefined);
    return typeof found === 'object' && found !== null ? found : undefined;
  }, schema);
}

function own(object: unknown, name: string): unknown {
  const fields = typeof object === 'object' && object !== null ? object : {};
  return new Map<string, unknown>(Object.entries(fields)).get(name);
}

type TextKeyword = 'enum' | 'format' | 'pattern' | 'examples' | 'minLength' | 'maxLength';
type GroupKeyword = 'items' | 'minItems' | 'maxItems' | 'properties' | 'required' | 'anyOf';
/** The keywords of a JSON Schema that error messages can describe. */
export type FieldSchema = {
  readonly [Keyword in TextKeyword | GroupKeyword | 'type' | 'minimum' | 'maximum']?: unknown;
};

// Such as `a number from 0.5 to 2` or `mp3, wav or ogg`.
function describeAllowed(schema: FieldSchema): string {
  if (Array.isArray(schema.enum)) return anyOf(schema.enum.map(String));
  if (Array.isArray(schema.anyOf)) {
    return anyOf(schema.anyOf.map((one: FieldSchema) => describeAllowed(one)));
  }
  if (schema.type === 'array') return describeList(schema);
  if (schema.type === 'object') return describeObject(schema);
  if (schema.format === 'uri') return 'an http or https address';
  if (schema.format === 'date-time') return 'an ISO 8601 timestamp such as 2026-05-01T08:30:00Z';
  if (schema.pattern !== undefined) return describePattern(schema);
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'number') return withRange('a number', schema);
  if (schema.type === 'integer') return withRange('an integer', schema);
  return describeLength(schema);
}

/** Describes the range of a number, such as `0.5 to 2`. */
export function describeRange({ minimum, maximum }: FieldSchema): string {
  if (typeof maximum !== 'number')
    return typeof minimum === 'number' ? `${minimum} or more` : 'any';
  return typeof minimum === 'number' ? `${minimum} to ${maximum}` : `at most ${maximum}`;
}

/** Joins alternatives: `a`, `a or b`, `a, b or c`. */
export function anyOf(values: readonly string[]): string {
  const last = values.at(-1) ?? '';
  return values.length < 2 ? last : `${values.slice(0, -1).join(', ')} or ${last}`;
}

// Examples are easier to read than a pattern.
function describePattern({ examples, pattern }: FieldSchema): string {
  return Array.isArray(examples) && examples.length > 0
    ? `a string such as ${anyOf(examples.map(String))}`
    : `a string like ${String(pattern)}`;
}

function describeObject({ required }: FieldSchema): string {
  const names = Array.isArray(required) ? required.map(String) : [];
  return names.length === 0 ? 'an object' : `an object with ${names.join(' and ')}`;
}

function describeList({ minItems, maxItems }: FieldSchema): string {
  return typeof minItems === 'number' && typeof maxItems === 'number'
    ? `a list of ${minItems} to ${maxItems}`
    : 'a list';
}

function withRange(noun: string, schema: FieldSchema): string {
  const isBoth = typeof schema.minimum === 'number' && typeof schema.maximum === 'number';
  return `${noun}${isBoth ? ' from' : ','} ${describeRange(schema)}`;
}

function describeLength({ minLength, maxLength }: FieldSchema): string {
  if (typeof maxLength !== 'number') {
    return typeof minLength === 'number' ? 'a string that is not empty' : 'a string';
  }
  return typeof minLength === 'number'
    ? `a string of ${minLength} to ${maxLength} characters`
    : `a string of at most ${maxLength} characters`;
}

const SHOWN_CHARACTERS = 40;

/** Formats a value for a message: shortened, and safe to print on a terminal. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return showText(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** Formats a text for a message: quoted, shortened, and safe to print on a terminal. */
export function showText(value: string): string {
  return `"${display(value, { max: SHOWN_CHARACTERS })}"`;
}

/**
 * Checks the media type of a request body and returns the parameters of the type, such as `charset=utf-8`.
 * @throws ServiceError 415 for another type or a compressed body
 */
export function requireBodyType(headers: Headers, allowed: readonly string[]): readonly string[] {
  const encoding = headers.get('Content-Encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported('Content-Encoding is not supported; send the body without compression');
  }
  const [type = '', ...parameters] = typeParts(headers);
  if (allowed.includes(type)) return parameters;
  throw unsupported(`Content-Type must be ${allowed.join(' or ')}`);
}

/** Splits the Content-Type header into the media type and its parameters, in lower case. */
export function typeParts(headers: Headers): readonly string[] {
  const value = headers.get('Content-Type') ?? '';
  return value
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
}

/** Returns a 415 error (unsupported media type). */
export function unsupported(message: string): ServiceError {
  return new ServiceError('ERR_UNSUPPORTED_MEDIA_TYPE', message);
}
