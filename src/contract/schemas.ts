import { Type } from 'typebox';
import type { Static, TProperties, TSchema } from 'typebox';

/** Returns an object schema with a name, under which it is a component of the OpenAPI document. Unknown properties are allowed. */
export function named<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id });
}

/**
 * Returns the schema of an object with any property names. `Type.Record` would load the part of TypeBox that
 * computes types, a fifth of what the service loads.
 */
export function mapOf<Value extends TSchema>(value: Value, options: { description?: string } = {}) {
  const schema = { type: 'object', patternProperties: { '^.*$': value }, ...options };
  return Type.Unsafe<Record<string, Static<Value>>>(schema);
}

/** Returns an object schema with a name that refuses unknown properties. */
export function strict<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id, additionalProperties: false });
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}
