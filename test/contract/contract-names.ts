import type { Endpoint } from '../../src/contract/endpoint.ts';
import { DEFINITIONS } from '../../src/contract/endpoints.ts';

import { HEADERS } from '../../src/contract/values.ts';
import * as limits from '../../src/contract/limits.ts';
import { CLIENT_MESSAGES } from '../../src/contract/realtime/client-messages.ts';
import { REALTIME_ERRORS } from '../../src/contract/realtime/errors.ts';
import * as realtimeLimits from '../../src/contract/realtime/limits.ts';
import { FINISH_REASONS, REQUEST_STATES } from '../../src/contract/realtime/protocols.ts';
import { SERVER_MESSAGES } from '../../src/contract/realtime/server-messages.ts';

import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { componentSchemas } from '../../src/service/openapi/document.ts';

const ALL: readonly Endpoint[] = DEFINITIONS;

/** Queries have no component of their own in the document. */
const QUERIES: Readonly<Record<string, object>> = Object.fromEntries(
  ALL.map(({ query = {} }): [string, object] => [String(Object(query).$id), query]).filter(
    ([id]) => id !== 'undefined',
  ),
);

/** Everything that the contract has a name for, as rows cover it. */
export interface ContractNames {
  /** `GET /path`, path parameters without their names. */
  readonly endpoints: readonly string[];
  /** `Voice.voiceId`; within objects that have no schema of their own `Job.task.taskId`. */
  readonly fields: readonly string[];
  readonly errors: readonly { readonly code: string; readonly status: number }[];
  readonly limits: readonly { readonly name: string; readonly value: string }[];
  readonly headers: readonly string[];
  /**
   * Of realtime speech: `v3.client.start`, `v2.server.ready`, `v3.error.invalid_state`, `finish.timeout`,
   * `state.running`.
   */
  readonly realtime: readonly string[];
}

/** Returns every schema that has a name: those of the OpenAPI document, and the queries. */
export function namedSchemas(): Readonly<Record<string, object>> {
  return { ...componentSchemas(), ...QUERIES };
}

export function contractNames(): ContractNames {
  const schemas = Object.entries({ ...componentSchemas(), ...QUERIES });
  return {
    endpoints: ALL.map(({ method, path }) => endpointName(`${method} ${path}`)),
    fields: schemas.flatMap(([name, schema]) => fieldsOf(name, schema)),
    errors: Object.entries(SERVICE_ERRORS).map(([code, status]) => ({ code, status })),
    limits: [...Object.entries(limits), ...Object.entries(realtimeLimits)].map(([name, value]) => ({
      name,
      value: valueOf(value),
    })),
    headers: [...Object.values(HEADERS), 'Location', 'Retry-After'],
    realtime: realtimeNames(),
  };
}

function realtimeNames(): readonly string[] {
  return [
    ...(['v2', 'v3'] as const).flatMap((version) => [
      ...Object.keys(CLIENT_MESSAGES[version]).map((event) => `${version}.client.${event}`),
      ...Object.keys(SERVER_MESSAGES[version]).map((event) => `${version}.server.${event}`),
      ...Object.keys(REALTIME_ERRORS).map((code) => `${version}.error.${code}`),
    ]),
    ...FINISH_REASONS.map((reason) => `finish.${reason}`),
    ...REQUEST_STATES.map((state) => `state.${state}`),
  ];
}

/** An endpoint whatever its parameters are called. */
export function endpointName(on: string): string {
  return on.replaceAll(/\{\w+\}/g, '{}');
}

function fieldsOf(path: string, schema: unknown): readonly string[] {
  const { properties, items } = Object(schema);
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([name, part]) => {
      const inner = fieldsOf(`${path}.${name}`, part);
      return inner.length > 0 ? inner : [`${path}.${name}`];
    });
  }
  return items === undefined ? [] : fieldsOf(`${path}.0`, items);
}

function valueOf(value: number | Readonly<Record<string, number>>): string {
  if (typeof value === 'number') return String(value);
  const { minimum, maximum, ...others } = value;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  return Object.entries(others)
    .map(([name, part]) => `${name} ${part}`)
    .join(', ');
}
