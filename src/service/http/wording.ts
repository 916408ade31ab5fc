import { display } from '../../text/display.ts';

/** The parts of a field's JSON Schema that a message can put into words. */
export interface FieldSchema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly format?: unknown;
  readonly pattern?: unknown;
  readonly examples?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly minLength?: unknown;
  readonly maxLength?: unknown;
  readonly minItems?: unknown;
  readonly maxItems?: unknown;
  readonly items?: unknown;
  readonly anyOf?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
}

/** What a field may be, in words: `a number from 0.5 to 2`, `mp3, wav or ogg`. */
export function describeAllowed(schema: FieldSchema): string {
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

/** The range of a number alone: `0.5 to 2`. */
export function describeRange({ minimum, maximum }: FieldSchema): string {
  if (typeof maximum !== 'number')
    return typeof minimum === 'number' ? `${minimum} or more` : 'any';
  return typeof minimum === 'number' ? `${minimum} to ${maximum}` : `at most ${maximum}`;
}

/** `a`, `a or b`, `a, b or c`. */
export function anyOf(values: readonly string[]): string {
  const last = values.at(-1) ?? '';
  return values.length < 2 ? last : `${values.slice(0, -1).join(', ')} or ${last}`;
}

/** A pattern is for machines; its examples are for people. */
function describePattern({ examples, pattern }: FieldSchema): string {
  const shown = Array.isArray(examples) ? examples.map(String) : [];
  return shown.length === 0
    ? `a string like ${String(pattern)}`
    : `a string such as ${anyOf(shown)}`;
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

/** A value of a request as an error message may repeat it: short, and harmless on a terminal. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return showText(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** A name that the request made up, in the same way. */
export function showText(value: string): string {
  return `"${display(value, { max: SHOWN_CHARACTERS })}"`;
}
