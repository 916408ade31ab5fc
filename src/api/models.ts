import type { Capabilities, Model, ModelControls } from '../contract/schemas/model.ts';
import type { JsonAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import type { RequestSpec } from './request.ts';
import type { UnknownRecord } from './shape.ts';
import { isRecord, isStringArray } from './shape.ts';

/** The capability record of every model (spec section 2.2); public, so asked for without a key. */
export function getCapabilities(
  client: ApiClient,
  options: Pick<RequestSpec, 'maxRetries' | 'signal'> = {},
): Promise<JsonAnswer<Capabilities>> {
  return client.json(
    { ...endpoint('getCapabilities'), billed: false, retry: 'safe', ...options },
    readCapabilities,
  );
}

/**
 * Whether a fresh capability record has the model available; `undefined` when it cannot be read.
 * Asked after a 503 of a speech request.
 */
export async function isModelAvailable(
  client: ApiClient,
  modelId: string,
  signal?: AbortSignal,
): Promise<boolean | undefined> {
  try {
    const { value } = await getCapabilities(client, { signal, maxRetries: 0 });
    return value.models.some(({ id, available }) => id === modelId && available);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

function readCapabilities(body: unknown): Capabilities | undefined {
  if (!isRecord(body) || !Array.isArray(body['models'])) return undefined;
  const models = body['models'].map((model) => readModel(model));
  if (!models.every((model) => model !== undefined)) return undefined;
  const { contractVersion, route } = body;
  return {
    contractVersion: typeof contractVersion === 'string' ? contractVersion : '',
    route: typeof route === 'string' ? route : '',
    models,
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
    controls: readControls(controls),
    supportedOperations: {
      synchronous: operations['synchronous'] === true,
      asynchronous: operations['asynchronous'] === true,
      alignedStreaming: operations['alignedStreaming'] === true,
    },
  };
}

function readControls(controls: UnknownRecord): ModelControls {
  return {
    speed: controls['speed'] === true,
    volume: controls['volume'] === true,
    pitch: controls['pitch'] === true,
    stability: controls['stability'] === true,
    similarity: controls['similarity'] === true,
  };
}
