import type { Static, TObject } from 'typebox';
import { invalidRequest } from '../service-error.ts';
import type { FieldSchema } from '../wording/describe-allowed.ts';
import { requireValid } from './validation.ts';

/**
 * Reads the query of a request strictly: every parameter known, given once, and of its type.
 * @throws ServiceError 400 that names what is wrong
 */
export function requireQuery<Schema extends TObject>(url: string, schema: Schema): Static<Schema> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of new URL(url).searchParams) {
    if (Object.hasOwn(values, name)) {
      throw invalidRequest([{ field: name, message: `${name} is given more than once` }]);
    }
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    Object.defineProperty(values, name, {
      value: property === undefined ? value : convert(value, property),
      enumerable: true,
    });
  }
  return requireValid(schema, values, 'The query');
}

/** A number has one spelling, so that nothing is added to a link. What cannot be converted stays text, which the schema then refuses with its name. */
function convert(value: string, schema: FieldSchema): unknown {
  if (schema.type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(value)) return Number(value);
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
