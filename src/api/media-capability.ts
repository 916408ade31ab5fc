import { Failure } from '../errors/failure.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import type { MediaJobKind } from './media-job.ts';
import type { RequestSpec } from './request.ts';
import { reviseFailure } from './revise-failure.ts';
import { isRecord } from './shape.ts';

/** What a kind of job is called in a sentence. */
const CAPABILITIES: Readonly<Record<MediaJobKind, string>> = {
  lipsync: 'lip sync',
  dub: 'video dubbing',
  image: 'image generation',
  video: 'video generation',
};

export interface RefusedCreate {
  readonly error: unknown;
  readonly kind: MediaJobKind;
  readonly request: Pick<RequestSpec, 'method' | 'signal' | 'target'>;
}

/**
 * The same error, which says that the account does not have the capability where it is a 404 and the
 * schema document does not list what was asked for (spec section 4.8).
 */
export async function missingCapability(
  client: ApiClient,
  { error, kind, request }: RefusedCreate,
): Promise<unknown> {
  if (!(error instanceof Failure) || error.status !== 404) return error;
  const { method, signal, target } = request;
  if ((await isListed(client, { method, target: String(target), signal })) !== false) return error;
  return reviseFailure(error, {
    message: `${CAPABILITIES[kind]} is not available for this account: the service does not list ${method} ${String(target)}`,
    hint: 'Use another account (--account), or ask the service for it. `foley --local` has it.',
  });
}

/** Whether the schema document has an operation; undefined when that cannot be found out. */
async function isListed(
  client: ApiClient,
  { method, signal, target }: { method: string; target: string; signal: AbortSignal | undefined },
): Promise<boolean | undefined> {
  try {
    const call = endpoint('getOpenApiV1');
    const spec = { ...call, billed: false, retry: 'safe', maxRetries: 1, signal } as const;
    const { value } = await client.json(spec, (body) => (isRecord(body) ? body : undefined));
    const paths = value['paths'];
    if (!isRecord(paths)) return undefined;
    // A document may name its paths below an address that it gives once.
    return Object.entries(paths).some(
      ([path, operations]) =>
        path !== '/' &&
        (target === path || (path.includes('/media/') && target.endsWith(path))) &&
        isRecord(operations) &&
        operations[method.toLowerCase()] !== undefined,
    );
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}
