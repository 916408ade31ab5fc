import type { EndpointId } from '../contract/endpoints.ts';
import { ENDPOINTS } from '../contract/endpoints.ts';

interface Call {
  readonly method: string;
  readonly target: string;
  readonly public: boolean;
}

const BY_ID = new Map<EndpointId, (typeof ENDPOINTS)[number]>(
  ENDPOINTS.map((entry) => [entry.id, entry]),
);

/** Method, path and need of a key of an endpoint, its path parameters filled in. */
export function endpoint(id: EndpointId, parameters: Readonly<Record<string, string>> = {}): Call {
  const known = BY_ID.get(id);
  if (known === undefined) throw new Error(`there is no endpoint ${id}`);
  const target = known.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodePathSegment(parameters[name] ?? ''),
  );
  return { method: known.method, target, public: known.public };
}

/** A dot alone would change the path, and is not touched by percent-encoding. */
function encodePathSegment(text: string): string {
  return encodeURIComponent(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'));
}
