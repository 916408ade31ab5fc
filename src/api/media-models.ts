import type { MediaType } from '../contract/schemas/media-models.ts';
import type { JsonAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { firstText } from './create-answer.ts';
import { endpoint } from './endpoint.ts';
import type { UnknownRecord } from './shape.ts';
import { isRecord } from './shape.ts';

/** One way in which a model makes pictures or videos, with what it costs (spec section 4.8). */
export interface MediaVariant {
  /** Of an image. */
  readonly aspectRatio: string | undefined;
  readonly resolution: string | undefined;
  /** Of a video. */
  readonly size: string | undefined;
  readonly seconds: number | undefined;
  /** In pixels, where the service tells. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly credits: number | undefined;
  /** How many references it takes. */
  readonly referenceLimit: number | undefined;
}

export interface MediaModel {
  readonly id: string;
  readonly available: boolean;
  readonly variants: readonly MediaVariant[];
}

/** The models of images or of videos, each with its variants (spec section 4.8). */
export function listMediaModels(
  client: ApiClient,
  mediaType: MediaType,
  signal?: AbortSignal,
): Promise<JsonAnswer<readonly MediaModel[]>> {
  const call = endpoint('getMediaModels');
  const spec = { ...call, query: { mediaType }, billed: false, retry: 'safe', signal } as const;
  return client.json(spec, readModels);
}

/** The shape is not documented: it is looked for where such lists are. */
function readModels(body: unknown): readonly MediaModel[] | undefined {
  const outer = isRecord(body) ? body : {};
  const inner = isRecord(outer['data']) ? outer['data'] : outer;
  const list = [inner['models'], inner['items'], outer['data'], body].find((value) =>
    Array.isArray(value),
  );
  if (!Array.isArray(list)) return undefined;
  const models = list.map((model) => readModel(model));
  return models.every((model) => model !== undefined) ? models : undefined;
}

function readModel(body: unknown): MediaModel | undefined {
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

function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number');
}
