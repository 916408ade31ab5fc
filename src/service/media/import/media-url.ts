import { invalidRequest } from '../../service-error.ts';

/**
 * The address in a field of a request.
 * @throws ServiceError 400 for anything but an http or https address without a name and a password
 */
export function parseMediaUrl({
  field,
  url: given,
}: {
  readonly field: string;
  readonly url: string;
}): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  const message = `${field} is no address; allowed is an http or https URL without a name and a password`;
  throw invalidRequest([{ field, message }]);
}
