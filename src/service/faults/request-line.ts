import { ENDPOINTS } from '../../contract/endpoints.ts';
import type { RequestLine } from './faults.ts';

/** The request of an endpoint, as fault rules see it. */
export function requestLineOf(endpoint: string): RequestLine {
  const found = ENDPOINTS.find(({ id }) => id === endpoint);
  if (found === undefined) throw new TypeError(`there is no endpoint ${endpoint}`);
  return found;
}
