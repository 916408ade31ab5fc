import type { EndpointId } from './generated/endpoints.ts';
import { ENDPOINTS } from './generated/endpoints.ts';

export interface EndpointCharge {
  /** True if a request may create something or cost credits. */
  readonly billed: boolean;
  /** The header that carries the idempotency key; undefined if the API documents no such header for the endpoint. */
  readonly idempotencyHeader: 'Idempotency-Key' | 'X-Request-Id' | undefined;
}

const FREE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/**
 * Returns whether a request may be billed, and which header carries its idempotency key. For an unknown endpoint, the
 * method alone decides.
 * @param path the path of the request, without the query
 */
export function chargeOf(method: string, path: string): EndpointCharge {
  const known = findEndpoint(method, path);
  if (known === undefined)
    return { billed: !FREE_METHODS.has(method), idempotencyHeader: undefined };
  const billed = 'charges' in known;
  if (!('repeat' in known)) return { billed, idempotencyHeader: undefined };
  return {
    billed,
    idempotencyHeader: 'isKeyedByRequestId' in known ? 'X-Request-Id' : 'Idempotency-Key',
  };
}

/** Returns the endpoint of a request; undefined if the API has none for its method and path. */
export function findEndpoint(method: string, path: string): (typeof ENDPOINTS)[number] | undefined {
  return ENDPOINTS.find((one) => one.method === method && fits(path, one.path));
}

function fits(path: string, template: string): boolean {
  const given = path.split('/');
  const parts = template.split('/');
  const isSame = (part: string, at: number): boolean =>
    part.startsWith('{') ? given[at] !== '' : part === given[at];
  return given.length === parts.length && parts.every((part, at) => isSame(part, at));
}

/** Returns the method and the path template of an endpoint. @throws TypeError for an unknown id */
export function endpointOf(id: EndpointId): (typeof ENDPOINTS)[number] {
  const found = ENDPOINTS.find((one) => one.id === id);
  if (found === undefined) throw new TypeError(`Unknown endpoint: ${id}`);
  return found;
}

/** Returns the path of an endpoint with its parameters filled in. */
export function endpointPath(
  id: EndpointId,
  parameters: Readonly<Record<string, string | number>>,
): string {
  return endpointOf(id).path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
}
