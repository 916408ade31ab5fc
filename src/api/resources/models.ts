import type { MediaType } from '../../contract/media.ts';
import type { Capabilities, Model } from '../../contract/models.ts';
import { Failure } from '../../errors/failure.ts';
import type { ApiClient } from '../client.ts';
import { reviseFailure } from '../failures.ts';
import { safeRequest } from '../request.ts';
import type { RequestSpec } from '../request.ts';
import type { JsonResponse, UnknownRecord } from '../response.ts';
import {
  firstNumber,
  firstRecord,
  firstText,
  isRecord,
  isStringArray,
  readArray,
} from '../response.ts';

/** Returns the capabilities of every model (docs/api/models.md). The request needs no API key. */
export function getCapabilities(
  client: ApiClient,
  options: Partial<RequestSpec> = {},
): Promise<JsonResponse<Capabilities>> {
  return client.json(safeRequest('getCapabilities', {}, options), readCapabilities);
}

/** Returns a function that checks, after a 503 response, whether the service still lists a model as available. */
export function modelCheck(
  client: ApiClient,
  modelId: string | undefined,
  signal: AbortSignal | undefined,
): RequestSpec['modelStillAvailable'] {
  if (modelId === undefined) return undefined;
  return async () => {
    try {
      const { value } = await getCapabilities(client, { signal, maxRetries: 0 });
      return value.models.some(({ id, available }) => id === modelId && available);
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  };
}

function readCapabilities(body: unknown): Capabilities | undefined {
  const { contractVersion, models: list, route } = firstRecord(body) ?? {};
  const models = readArray(list, readModel);
  if (models === undefined) return undefined;
  return {
    contractVersion: firstText(contractVersion) ?? '',
    route: firstText(route) ?? '',
    models: [...models],
  };
}

function readModel(body: unknown): Model | undefined {
  if (!isRecord(body)) return undefined;
  const { id, available, maxTextLength, outputFormats, controls, supportedOperations } = body;
  const fits =
    typeof id === 'string' &&
    typeof available === 'boolean' &&
    typeof maxTextLength === 'number' &&
    isStringArray(outputFormats) &&
    isRecord(controls);
  if (!fits) return undefined;
  const operations = isRecord(supportedOperations) ? supportedOperations : {};
  return {
    id,
    available,
    maxTextLength,
    outputFormats,
    controls: {
      speed: controls['speed'] === true,
      volume: controls['volume'] === true,
      pitch: controls['pitch'] === true,
      stability: controls['stability'] === true,
      similarity: controls['similarity'] === true,
    },
    supportedOperations: {
      synchronous: operations['synchronous'] === true,
      asynchronous: operations['asynchronous'] === true,
      alignedStreaming: operations['alignedStreaming'] === true,
    },
  };
}

/** One combination of size, duration and cost that a media model offers (docs/api/media.md). */
export interface MediaVariant {
  /** Aspect ratio of an image; undefined for a video. */
  readonly aspectRatio: string | undefined;
  readonly resolution: string | undefined;
  /** Size of a video; undefined for an image. */
  readonly size: string | undefined;
  readonly seconds: number | undefined;
  /** Width of the image or video in pixels. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly credits: number | undefined;
  /** Maximum number of reference images in a request. */
  readonly referenceLimit: number | undefined;
}

export interface MediaModel {
  readonly id: string;
  readonly available: boolean;
  readonly variants: readonly MediaVariant[];
}

/** Lists the image or video models with their variants (docs/api/media.md). */
export function listMediaModels(
  client: ApiClient,
  mediaType: MediaType,
  signal?: AbortSignal,
): Promise<JsonResponse<readonly MediaModel[]>> {
  return client.json(
    safeRequest('getMediaModels', {}, { query: { mediaType }, signal }),
    readModels,
  );
}

// The API does not document the response, so this accepts the usual field names.
function readModels(body: unknown): readonly MediaModel[] | undefined {
  const outer = firstRecord(body) ?? {};
  const inner = firstRecord(outer['data']) ?? outer;
  const list = [inner['models'], inner['items'], outer['data'], body].find((value) =>
    Array.isArray(value),
  );
  return readArray(list, readMediaModel);
}

function readMediaModel(body: unknown): MediaModel | undefined {
  if (!isRecord(body)) return undefined;
  const id = firstText(body['id'], body['model'], body['name']);
  if (id === undefined) return undefined;
  const variants = Array.isArray(body['variants']) ? body['variants'] : [];
  return {
    id,
    available: body['available'] !== false,
    variants: variants.filter((variant) => isRecord(variant)).map((one) => readVariant(one)),
  };
}

function readVariant(body: UnknownRecord): MediaVariant {
  return {
    aspectRatio: firstText(body['aspect_ratio'], body['aspectRatio']),
    resolution: firstText(body['resolution']),
    size: firstText(body['size']),
    seconds: firstNumber(body['seconds'], body['duration']),
    width: firstNumber(body['width']),
    height: firstNumber(body['height']),
    credits: firstNumber(body['credits'], body['credit_quote'], body['creditQuote']),
    referenceLimit: firstNumber(body['reference_limit'], body['referenceLimit']),
  };
}

const CAPABILITIES: Readonly<Record<MediaJobKind, string>> = {
  lipsync: 'lip sync',
  dub: 'video dubbing',
  image: 'image generation',
  video: 'video generation',
};

/**
 * Returns a clearer Failure for a 404 error if the service's OpenAPI document does not list the endpoint
 * (docs/api/media.md). Returns any other error unchanged.
 */
export async function explainMissingFeature(
  client: ApiClient,
  error: unknown,
  kind: MediaJobKind,
  request: RequestSpec,
): Promise<unknown> {
  if (!(error instanceof Failure) || error.status !== 404) return error;
  const { method } = request;
  const target = String(request.target);
  if ((await isListed(client, method, target, request.signal)) !== false) return error;
  return reviseFailure(error, {
    message: `${CAPABILITIES[kind]} is not available for this account: the service does not list ${method} ${target}`,
    hint: 'Use another account (--account), ask the service for access, or use `--local`.',
  });
}

async function isListed(
  client: ApiClient,
  method: string,
  target: string,
  signal: AbortSignal | undefined,
): Promise<boolean | undefined> {
  try {
    const request = safeRequest('getOpenApiV1', {}, { maxRetries: 1, signal });
    const { value: paths } = await client.json(request, (body) =>
      firstRecord(firstRecord(body)?.['paths']),
    );
    // The paths in the document may be relative to a base URL.
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

export type MediaJobKind = (typeof MEDIA_JOB_KINDS)[number];

/** The kinds of media jobs. Each kind is also the name of a command, such as `foley lipsync`. */
export const MEDIA_JOB_KINDS = ['lipsync', 'dub', 'image', 'video'] as const;
