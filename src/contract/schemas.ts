import { Type } from 'typebox';
import type { TProperties, TSchema } from 'typebox';

/** Returns an object schema with a name, under which it is a component of the OpenAPI document. Unknown properties are allowed. */
export function named<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id });
}

/** Returns an object schema with a name that refuses unknown properties. */
export function strict<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id, additionalProperties: false });
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}
