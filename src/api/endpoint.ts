import type { EndpointId } from '../contract/endpoints.ts';
import { ENDPOINTS } from '../contract/endpoints.ts';
import { usageFailure } from '../errors/failure.ts';

interface Call {
  readonly method: string;
  readonly target: string;
  readonly public: boolean;
}

const BY_ID = new Map<EndpointId, (typeof ENDPOINTS)[number]>(
  ENDPOINTS.map((entry) => [entry.id, entry]),
);

/**
 * Method, path and need of a key of an endpoint, its path parameters filled in.
 * @throws Failure (usage) for an id that no path can have
 */
export function endpoint(id: EndpointId, parameters: Readonly<Record<string, string>> = {}): Call {
  const known = BY_ID.get(id);
  if (known === undefined) throw new Error(`there is no endpoint ${id}`);
  const target = fillPath(known.path, parameters);
  return { method: known.method, target, public: known.public };
}

/**
 * A path with its parameters filled in.
 * @throws Failure (usage) for an id that no path can have
 */
export function fillPath(path: string, parameters: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeSegment(parameters[name] ?? ''),
  );
}

/** An address would lead elsewhere with these, however they are written. */
function encodeSegment(value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw usageFailure(`"${value}" is not an id`);
  return encodeURIComponent(value);
}
