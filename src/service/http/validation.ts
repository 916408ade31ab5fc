import type { Static, TObject } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { countCodePoints } from '../../text/code-points.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest } from '../service-error.ts';
import type { FieldSchema } from '../wording/describe-allowed.ts';
import { anyOf, describeAllowed, describeRange } from '../wording/describe-allowed.ts';
import { showText, showValue } from '../wording/show-value.ts';

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
  const [, errors] = Errors(schema, value);
  const problems = errors.flatMap((error) => describeError(error, { schema, value, whole }));
  const [first, ...others] = onePerField(problems);
  throw invalidRequest([first ?? { field: whole, message: `${whole} is not valid` }, ...others]);
}

type SchemaError = ReturnType<typeof Errors>[1][number];

interface Checked {
  readonly schema: TObject;
  readonly value: unknown;
  readonly whole: string;
}

function describeError(error: SchemaError, checked: Checked): readonly FieldProblem[] {
  const { schema, whole } = checked;
  const fields = Object.keys(schema.properties);
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((field) => ({
      field,
      message: `${field} is missing; it is required`,
    }));
  }
  if (error.keyword === 'additionalProperties') {
    return error.params.additionalProperties.map((name) => ({
      field: name,
      message: `${showText(name)} is not known here; allowed are ${anyOf(fields)}`,
    }));
  }
  if (error.instancePath === '') {
    return [
      { field: whole, message: `${whole} is ${showValue(checked.value)}; allowed is an object` },
    ];
  }
  const field = error.instancePath.slice(1);
  const property = fieldSchema(schema, field);
  return property === undefined ? [] : [describeField(field, property, checked.value)];
}

function describeField(field: string, schema: FieldSchema, whole: unknown): FieldProblem {
  const value = fieldValue(whole, field);
  if (typeof value === 'number' && schema.type === 'number') {
    return { field, message: `${field} is ${value}; allowed is ${describeRange(schema)}` };
  }
  // What is said is never repeated: only names and settings are.
  const given =
    typeof value === 'string' && (schema.maxLength !== undefined || value === '')
      ? `has ${countCodePoints(value)} characters`
      : `is ${showValue(value)}`;
  return { field, message: `${field} ${given}; allowed is ${describeAllowed(schema)}` };
}

function fieldSchema(schema: TObject, field: string): FieldSchema | undefined {
  return Object.hasOwn(schema.properties, field) ? schema.properties[field] : undefined;
}

function fieldValue(whole: unknown, field: string): unknown {
  const fields = new Map(Object.entries(typeof whole === 'object' && whole !== null ? whole : {}));
  return fields.get(field);
}

function onePerField(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ field }) => !seen.has(field) && seen.add(field));
}
