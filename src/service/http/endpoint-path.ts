import type { EndpointId } from '../../contract/endpoints.ts';
import { ENDPOINTS } from '../../contract/endpoints.ts';

/** The path of an endpoint with its parameters filled in, for addresses in answers. */
export function endpointPath(
  id: EndpointId,
  parameters: Readonly<Record<string, string | number>>,
): string {
  const endpoint = ENDPOINTS.find((one) => one.id === id);
  if (endpoint === undefined) throw new TypeError(`there is no endpoint ${id}`);
  return endpoint.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
}
