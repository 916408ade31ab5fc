import type { AudioFormat } from '../../contract/values.ts';
import type { Charge } from '../../contract/charges.ts';
import { chargeOf } from '../../contract/charges.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import type { SpeechSurface, SurfaceName, SpeechField } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import type { AudioAnswer } from '../audio-response.ts';
import { audioAnswer } from '../audio-response.ts';
import type { ApiClient } from '../client.ts';
import { isModelAvailable } from './models.ts';
import { endpoint, jsonBody } from '../request.ts';
import type { IdempotencyKey, RequestSpec } from '../request.ts';

export type { AudioAnswer };

export interface SpeechOptions {
  /** Which interface is asked; default v3. */
  readonly surface?: SurfaceName | undefined;
  /** Have the audio stored, and fetch it from there (v1). */
  readonly cache?: boolean | undefined;
  /** Needed by every surface but the compatibility ones, which know none. */
  readonly idempotencyKey?: Pick<IdempotencyKey, 'madeByTool' | 'value'> | undefined;
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told before a refunded request goes out again under a new key, so that it is recorded first. */
  readonly onNewKey?: ((key: string) => Promise<void>) | undefined;
}

/** The request of {@link synthesize}, to be described or sent. */
export function speechRequest(
  client: ApiClient,
  order: SpeechOrder,
  options: SpeechOptions,
): RequestSpec {
  const { onNewKey, requestId, signal } = options;
  const surface: SpeechSurface = SPEECH_SURFACES[options.surface ?? 'v3'];
  const call = endpoint(surface.endpoint);
  const { modelId } = order;
  return {
    ...call,
    accept: SPEECH_TYPES,
    headers: modelHeader(surface, modelId),
    body: jsonBody({
      ...speechBody(order, surface),
      ...(surface.canCache && options.cache === true ? { cache: true } : {}),
    }),
    billed: true,
    ...repetition(call.method, call.target, options),
    requestId,
    signal,
    onNewKey,
    modelStillAvailable:
      modelId === undefined ? undefined : () => isModelAvailable(client, modelId, signal),
  };
}

const SPEECH_TYPES = 'audio/*, application/json';

function modelHeader(
  { modelHeader: name }: SpeechSurface,
  modelId: string | undefined,
): RequestSpec['headers'] {
  return name === undefined || modelId === undefined ? undefined : { [name]: modelId };
}

/** By what the service recognizes the request when it comes again, where it does. */
function repetition(
  method: string,
  path: string,
  { idempotencyKey }: SpeechOptions,
): Pick<RequestSpec, 'key' | 'lookAt' | 'retry'> {
  const { recognizedBy: sentAs } = chargeOf(method, path);
  if (sentAs === undefined) return { retry: 'never', lookAt: LOOK_AT };
  if (idempotencyKey === undefined) throw new TypeError(`${path} is not sent without a key`);
  return { retry: 'keyed', key: { ...idempotencyKey, sentAs } };
}

/** The header by which a surface recognizes a request that comes again; none where it does not. */
export function recognizedBy(surface: SurfaceName): Charge['recognizedBy'] {
  const { method, target } = endpoint(SPEECH_SURFACES[surface].endpoint);
  return chargeOf(method, target).recognizedBy;
}

const LOOK_AT =
  'Nothing would tell the service that it is the same request: look with `foley profile` whether ' +
  'credits were used before you send it again.';

/**
 * Speaks a text synchronously (docs/api/README.md): resolves when the audio begins to arrive.
 * @throws Failure; status first, then content type: a 200 that is not audio is of no use, whatever
 *   error its JSON names
 */
export async function synthesize(
  client: ApiClient,
  order: SpeechOrder,
  options: SpeechOptions,
): Promise<AudioAnswer> {
  return sendSpeech(client, speechRequest(client, order, options), options.cache === true);
}

/**
 * Sends a speech request as it is: {@link synthesize} for one that was stored.
 * @param cache the body asks for an address of stored audio
 * @throws Failure as {@link synthesize}
 */
export async function sendSpeech(
  client: ApiClient,
  request: RequestSpec,
  cache: boolean,
): Promise<AudioAnswer> {
  const answer = await client.send({ ...request, accept: SPEECH_TYPES });
  if (!cache) return audioAnswer(client, answer);
  const { storedAudio } = await import('./cached-speech.ts');
  return storedAudio(client, answer, request.signal);
}

/** What a person asks for, whichever surface it goes to. */
export interface SpeechOrder extends SpeechControls {
  readonly text: string;
  readonly voiceId: string;
  readonly modelId?: string;
  readonly format?: AudioFormat;
}

/** The order as the body of a surface: what the surface does not have is left out. */
export function speechBody(order: SpeechOrder, { fields }: SpeechSurface): object {
  const places: Readonly<Partial<Record<string, string>>> = fields;
  return Object.entries(order).reduce<Tree>((body, [field, value]) => {
    const place = places[field];
    return place === undefined ? body : planted(body, place.split('.'), value);
  }, {});
}

/** Whether a surface has a field at all. */
export function hasField({ fields }: SpeechSurface, field: SpeechField): boolean {
  return fields[field] !== undefined;
}

interface Tree {
  readonly [name: string]: unknown;
}

function planted(tree: Tree, [name = '', ...rest]: readonly string[], value: unknown): Tree {
  if (rest.length === 0) return { ...tree, [name]: value };
  const branch = tree[name];
  return { ...tree, [name]: planted(isTree(branch) ? branch : {}, rest, value) };
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null;
}
