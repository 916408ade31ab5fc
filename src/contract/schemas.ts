import { Type } from 'typebox';
import type { Static, TProperties, TSchema } from 'typebox';

/** Returns an object schema with a name in the OpenAPI document. Unknown properties are allowed. */
export function named<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id });
}

/**
 * Returns the schema of a map with string keys. Used instead of `Type.Record`, which would load much more code when
 * foley starts.
 */
export function mapOf<Value extends TSchema>(value: Value, description?: string) {
  const about = description === undefined ? {} : { description };
  const schema = { type: 'object', additionalProperties: value, ...about };
  return Type.Unsafe<Record<string, Static<Value>>>(schema);
}

/** Returns an object schema with a name in the OpenAPI document. Unknown properties are refused. */
export function strict<Properties extends TProperties>($id: string, properties: Properties) {
  return Type.Object(properties, { $id, additionalProperties: false });
}

/** Returns a schema that also allows null. The description must say what null means. */
export function nullable<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** Schema of the response field `requestId`. */
export const RequestId = Type.String({
  description: 'Trace id of the request (report it with errors)',
});

/** Schema of the response field `quotaRemaining`. */
export const QuotaRemaining = Type.Integer({
  description: 'Remaining API quota (speech uses one unit per character)',
});

/** Schemas of the fields that describe why a job failed. */
export const JobError = {
  code: Type.String({ description: 'Stable error code' }),
  message: Type.String({ description: 'Error message for humans' }),
};
