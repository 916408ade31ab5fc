import type { Endpoint } from '../../contract/endpoint.ts';
import { DEFINITIONS } from '../../contract/endpoints.ts';
import { ErrorBody, OpenAiErrorBody } from '../../contract/error-body.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The schemas that have a name and are somewhere in the body, the answers or the errors of an endpoint, as OpenAPI
 * components; one inside another becomes a reference. They go by name, those of videos last.
 */
export function componentSchemas(): Readonly<Record<string, Json>> {
  const endpoints: readonly Endpoint[] = DEFINITIONS;
  const used = endpoints.map(({ body, success, otherSuccess, events }) => [
    body,
    success,
    otherSuccess,
    events,
  ]);
  const found = new Map<string, Json>();
  collectNamed([ErrorBody, OpenAiErrorBody, used], found);
  const named = [...found].toSorted(([one], [other]) => byName(one, other));
  return Object.fromEntries(
    named.map(([name, schema]) => [name, asRecord(Object(withReferences(schema)))]),
  );
}

function byName(one: string, other: string): number {
  const last = Number(one.startsWith('Video')) - Number(other.startsWith('Video'));
  return last || (one < other ? -1 : 1);
}

function collectNamed(value: unknown, found: Map<string, Json>): void {
  if (typeof value !== 'object' || value === null) return;
  const { $id, ...rest } = asRecord(value);
  if (typeof $id === 'string') found.set($id, rest);
  for (const part of Object.values(rest)) collectNamed(part, found);
}

/**
 * Describes a body of server-sent events, by their names or without any. OpenAPI 3.1 has no words for events: the schema
 * is that of one event as readers of such streams see it, its data a string.
 */
export function eventContent(events: NonNullable<Endpoint['events']>): Json {
  const line = 'One server-sent event; its data is JSON in one line.';
  const schema = isUnnamed(events)
    ? {
        description: line,
        type: 'object',
        required: ['data'],
        properties: { data: jsonText({ oneOf: events.map((data) => schemaOrReference(data)) }) },
      }
    : {
        description: `${line} The last event is completed or error.`,
        oneOf: Object.entries(events).map(([name, data]) => ({
          type: 'object',
          required: ['event', 'data'],
          properties: { event: { const: name }, data: jsonText(schemaOrReference(data)) },
        })),
      };
  return { 'text/event-stream': { schema } };
}

function isUnnamed(
  events: NonNullable<Endpoint['events']>,
): events is Extract<typeof events, readonly unknown[]> {
  return Array.isArray(events);
}

function jsonText(contentSchema: Json): Json {
  return { type: 'string', contentMediaType: 'application/json', contentSchema };
}

/** A schema where it is used: a reference when it has a name. */
export function schemaOrReference(schema: object): Json {
  const { $id } = asRecord(schema);
  return typeof $id === 'string' ? { $ref: `#/components/schemas/${$id}` } : asRecord(schema);
}

function withReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item));
  if (typeof value !== 'object' || value === null) return value;
  const record = asRecord(value);
  if (typeof record['$id'] === 'string') return schemaOrReference(value);
  return Object.fromEntries(
    Object.entries(record).map(([name, part]) => [name, withReferences(part)]),
  );
}

function asRecord(value: object): Json {
  return Object.fromEntries(Object.entries(value));
}
