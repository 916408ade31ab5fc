import type { ApiClient } from './client.ts';

/** An address in an answer, also one below the service itself; `undefined` for what is none of the web. */
export function answeredUrl(
  { address }: Pick<ApiClient, 'address'>,
  text: unknown,
): URL | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  if (!URL.canParse(text, address.baseUrl.href)) return undefined;
  const url = new URL(text, address.baseUrl);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
