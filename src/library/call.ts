import { inspect } from 'node:util';
import { usageFailure, Failure } from '../errors/failure.ts';
import { countCodePoints } from '../text/code-points.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import { FoleyError } from './foley-error.ts';

/** The allowed values of an option. Without `type`, any value is allowed. Lengths are in characters. */
export interface OptionRule {
  readonly type?: 'array' | 'boolean' | 'function' | 'number' | 'object' | 'signal' | 'string';
  readonly isRequired?: boolean;
  readonly isInteger?: boolean;
  readonly values?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export type Rules = Readonly<Record<string, OptionRule>>;

/**
 * Checks the options of a call, because JavaScript callers can pass any value.
 * @param call name of the function, for messages
 * @throws Failure of kind `usage` that names the option, its value and the allowed values
 */
export function checkOptions(call: string, options: unknown, rules: Rules): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw usageFailure(`${call} takes an object with options; it got ${shown(options)}`);
  }
  const given: Readonly<Record<string, unknown>> = { ...options };
  const names = Object.keys(rules);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const hint = nearestHint(unknown, names) ?? `The options are ${names.join(', ')}.`;
    throw usageFailure(`${call} has no option ${unknown}. ${hint}`);
  }
  for (const [name, rule] of Object.entries(rules))
    checkValue(`${call}: ${name}`, given[name], rule);
}

/**
 * Checks one value.
 * @param name name of the value, for messages
 * @throws Failure of kind `usage`
 */
export function checkValue(name: string, value: unknown, rule: OptionRule): void {
  if (value === undefined && rule.isRequired === true) {
    throw usageFailure(`${name} is missing; it takes ${allowed(rule)}`);
  }
  if (value === undefined || fits(value, rule)) return;
  throw usageFailure(`${name} is ${shown(value)}; it takes ${allowed(rule)}`);
}

function fits(value: unknown, rule: OptionRule): boolean {
  const { maximum = Infinity, maxLength = Infinity, minimum = -Infinity, minLength = 0 } = rule;
  const { type = 'any' } = rule;
  switch (type) {
    case 'array':
      return Array.isArray(value) && value.length >= minLength;
    case 'number': {
      const isKind = rule.isInteger === true ? Number.isInteger(value) : Number.isFinite(value);
      return typeof value === 'number' && isKind && value >= minimum && value <= maximum;
    }
    case 'string': {
      if (typeof value !== 'string') return false;
      const length = value.trim() === '' ? 0 : countCodePoints(value);
      return length >= minLength && length <= maxLength && (rule.values?.includes(value) ?? true);
    }
    case 'signal':
      // Not `instanceof`: a test environment may have an AbortSignal of its own.
      return typeof value === 'object' && value !== null && 'throwIfAborted' in value;
    case 'any':
      return true;
    case 'boolean':
    case 'function':
    case 'object':
      return typeof value === type && value !== null;
  }
}

function allowed({
  isInteger,
  maximum,
  maxLength,
  minimum,
  minLength,
  type,
  values,
}: OptionRule): string {
  if (values !== undefined) return values.join(', ');
  if (type === 'signal') return 'an AbortSignal';
  const noun = isInteger === true ? 'whole number' : (type ?? 'value');
  if (minimum !== undefined) {
    return `a ${noun} ${maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}`;
  }
  if (type === 'string' && maxLength !== undefined)
    return `${minLength ?? 0} to ${maxLength} characters`;
  const article = /^[ao]/.test(noun) ? 'an' : 'a';
  return minLength === undefined ? `${article} ${noun}` : `${article} ${noun} that is not empty`;
}

const SHOWN_CHARACTERS = 60;
const INSPECTION = { depth: 0, compact: true, breakLength: Infinity } as const;

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  // Not JSON, which cannot print a BigInt and prints NaN as null.
  const text = typeof value === 'string' ? JSON.stringify(value) : inspect(value, INSPECTION);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** If an error is a Failure, converts it to the error that the library throws. Returns other errors unchanged. */
export function publicError(error: unknown, idempotencyKey?: string): unknown {
  if (!(error instanceof Failure)) return error;
  const { billed, code, details, exitCode, message, requestId, retryAfter, status } = error;
  const fields = { billed, code, details, exitCode, requestId, retryAfter, status };
  return new FoleyError(message, { ...fields, idempotencyKey, cause: error.cause });
}
