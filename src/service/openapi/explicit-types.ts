/**
 * Returns a copy of an OpenAPI document that generators of API clients understand: each schema with `enum` or `const` has
 * a `type`, alternatives of different types are one schema with several types, or `oneOf`, and numbers that do not fit in
 * 32 bits have a `format`.
 */
export function withExplicitTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withExplicitTypes(item));
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).map(([name, part]) => [name, withExplicitTypes(part)]);
  return withNumberFormat(withoutFileCount(withAlternatives(withType(Object.fromEntries(parts)))));
}

type Schema = Readonly<Record<string, unknown>>;

function withType(schema: Schema): Schema {
  const { type, enum: values, const: only } = schema;
  const first: unknown = Array.isArray(values) ? values[0] : only;
  return type === undefined && typeof first === 'string' ? { type: 'string', ...schema } : schema;
}

// Without a format, generated clients read integers as 32-bit integers, and Go clients read numbers as 32-bit numbers.
function withNumberFormat(schema: Schema): Schema {
  const { format, maximum = Infinity, type } = schema;
  const types = Array.isArray(type) ? type : [type];
  if (format !== undefined) return schema;
  if (types.includes('number')) return { ...schema, format: 'double' };
  const isLarge = types.includes('integer') && Number(maximum) > MOST_INT32;
  return isLarge ? { ...schema, format: 'int64' } : schema;
}

const MOST_INT32 = 2 ** 31 - 1;

// No value matches two of the alternatives of this API, so `oneOf` means the same as `anyOf`.
function withAlternatives(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const [{ type, ...constraints }, other] = anyOf;
  // The values of an enumeration would need null, too.
  const isPlain = type !== undefined && constraints.enum === undefined && anyOf.length === 2;
  const isNullable = isPlain && other.type === 'null';
  return isNullable ? { type: [type, 'null'], ...constraints, ...rest } : { oneOf: anyOf, ...rest };
}

// The Go code of openapi-generator 7.25.0 does not compile if the number of files is limited.
function withoutFileCount(schema: Schema): Schema {
  const { minItems, maxItems, ...rest } = schema;
  if (Object(schema['items']).format !== 'binary') return schema;
  const count = `${String(minItems)} to ${String(maxItems)} files`;
  return { ...rest, description: `${String(schema['description'])} (${count})` };
}
