import type { Static, TObject } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { countCodePoints } from '../../text/code-points.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest } from '../service-error.ts';
import type { FieldSchema } from './wording.ts';
import { anyOf, describeAllowed, describeRange, showText, showValue } from './wording.ts';

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
