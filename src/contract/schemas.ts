import { Type } from 'typebox';
import type { Static, TProperties, TSchema } from 'typebox';

/** Returns an object schema that allows unknown properties, with its name in the OpenAPI document. */
export function named<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id });
}

/** Returns the schema of a map. Does not use `Type.Record`, which makes foley load much more code when it starts. */
export function mapOf<Value extends TSchema>(value: Value, options: { description?: string } = {}) {
  const schema = { type: 'object', patternProperties: { '^.*$': value }, ...options };
  return Type.Unsafe<Record<string, Static<Value>>>(schema);
}

/** Returns an object schema that refuses unknown properties, with its name in the OpenAPI document. */
export function strict<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id, additionalProperties: false });
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}
