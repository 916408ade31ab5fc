import type { ApiClient } from '../../api/client.ts';
import { getCapabilities } from '../../api/resources/models.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { getVoice } from '../../api/resources/voices.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS } from '../../contract/values.ts';
import type { Cover, Tags } from '../../audio/encode/tags.ts';
import { FAMILIES, LOCAL_MODEL_PREFIX } from '../../contract/families.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import { hasShape } from '../../durable/log.ts';
import type { SoundChanges } from '../../durable/output.ts';
import { isSoundChanges } from '../../durable/output.ts';
import type { SurfaceName } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import { hasMoreCodePointsThan } from '../../text/code-points.ts';
import { isRefusedText } from '../unspoken.ts';

interface PlannedPart {
  // `start` and `end` are positions in the text, counted in UTF-16 code units.
  readonly start: number;
  readonly end: number;
  // The first idempotency key; null if the service does not support idempotency keys.
  readonly key: string | null;
  // The voice of the part, if it is not that of the text.
  readonly voiceId?: string | undefined;
}

/** The parameters with which a long text is spoken. foley saves them, so that an interrupted command can be resumed. */
export interface LongTextPlan {
  readonly id: string;
  /** When the command started, as an ISO date. */
  readonly at: string;
  readonly target: 'embedded' | 'hosted';
  /** The origin of the service; the embedded service has a different origin in each command. */
  readonly origin: string;
  /**
   * How each part is requested. The audio of a `job` can be downloaded again; the other methods are streams, which
   * cannot be repeated.
   */
  readonly via: 'job' | 'sync' | 'aligned';
  readonly surface: SurfaceName;
  /** The destination of the audio. Delivery to a stream cannot be resumed. */
  readonly delivery: 'file' | 'stream';
  readonly order: Omit<SpeechOrder, 'text'>;
  readonly format: AudioFormat;
  /** The output file; null for a stream. */
  readonly output: string | null;
  readonly temporary: string | null;
  /** The changes of the sound that the output still needs. */
  readonly changes?: SoundChanges | undefined;
  /** The captions to write, as JSON. `captionsRecord` creates this value and `parseCaptionsRecord` reads it. */
  readonly captions?: unknown;
  /** The length of all parts together, in Unicode code points. */
  readonly characters: number;
  readonly parts: readonly PlannedPart[];
  /** Milliseconds of silence before each part and after the last one; undefined for none. */
  readonly silences?: readonly number[] | undefined;
  /** The tags of the file; `cover` is the type of the picture, which is in a file of its own. */
  readonly tags?: TextTags | undefined;
  /** The chapters of the file, each with the index of the part that it begins with. */
  readonly chapters?: readonly { readonly title: string; readonly part: number }[] | undefined;
}

type TextTags = Omit<Tags, 'cover'> & { readonly cover?: Cover['mimeType'] | undefined };

/** Returns whether a recorded value is a valid plan. */
export function isPlan(value: unknown): value is LongTextPlan {
  if (!hasShape(value, PLAN_TYPES)) return false;
  const isOneOf = (name: string, ...allowed: readonly unknown[]): boolean =>
    allowed.includes(value[name]);
  const { chapters = [], order, parts, silences = [], tags = {} } = value;
  return (
    isOneOf('target', 'embedded', 'hosted') &&
    isOneOf('via', 'job', 'sync', 'aligned') &&
    isOneOf('delivery', 'file', 'stream') &&
    isOneOf('surface', ...Object.keys(SPEECH_SURFACES)) &&
    isOneOf('format', ...AUDIO_FORMATS) &&
    hasShape(order, { voiceId: 'string', text: 'undefined' }) &&
    Array.isArray(parts) &&
    parts.every((part) => hasShape(part, PART_TYPES)) &&
    isSoundChanges(value['changes']) &&
    Array.isArray(silences) &&
    silences.every((ms) => typeof ms === 'number') &&
    hasShape(tags, TAG_TYPES) &&
    Array.isArray(chapters) &&
    chapters.every((chapter) => hasShape(chapter, { title: 'string', part: 'number' }))
  );
}

const PART_TYPES = {
  start: 'number',
  end: 'number',
  key: 'string|null',
  voiceId: 'string|undefined',
};

const TAG_TYPES = {
  title: 'string|undefined',
  author: 'string|undefined',
  album: 'string|undefined',
  cover: 'string|undefined',
};

const PLAN_TYPES = {
  id: 'string',
  at: 'string',
  origin: 'string',
  output: 'string|null',
  temporary: 'string|null',
  characters: 'number',
};

/** The maximum text length of one request. */
export interface TextLimit {
  /** Maximum text length in Unicode code points. */
  readonly characters: number;
  /** The model that has this limit; undefined if the service chooses one of several models. */
  readonly modelId: string | undefined;
}

/**
 * Returns the maximum text length of a request.
 *
 * - With `modelId`: the limit of that model, or the general limit if the service does not list the model.
 * - Without `modelId`: the limit of the default model of the voice. The result names this model, and the caller must
 *   send it with the request. If the default model is unknown, the smallest limit among the models of the voice.
 * @throws Failure
 */
export async function textLimit(
  client: ApiClient,
  { modelId, voiceId }: { readonly modelId?: string | undefined; readonly voiceId: string },
  signal: AbortSignal | undefined,
): Promise<TextLimit> {
  const [{ value }, own] = await Promise.all([
    getCapabilities(client, { signal }),
    modelId === undefined ? modelsOf(client, voiceId, signal) : [modelId],
  ]);
  const available = new Set(value.models.filter((model) => model.available).map(({ id }) => id));
  const chosen = modelId ?? defaultModel(own.filter((id) => available.has(id)));
  const limits = value.models
    .filter(({ id }) => (chosen === undefined ? own.includes(id) : id === chosen))
    .map(({ maxTextLength }) => maxTextLength);
  const characters = Math.max(1, Math.min(TEXT_MAX_CHARACTERS, ...limits));
  return { characters, modelId: chosen };
}

/**
 * Returns true if the service refused a text because the voice cannot speak any of its words. If the text is too long,
 * returns false.
 * @throws Failure if the service does not report the text limit
 */
export async function isUnspeakable(
  error: unknown,
  client: ApiClient,
  { text, ...order }: SpeechOrder,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (!isRefusedText(error)) return false;
  const { characters } = await textLimit(client, order, signal);
  return !hasMoreCodePointsThan(text, characters);
}

function defaultModel(models: readonly string[]): string | undefined {
  const [first] = models;
  if (models.length === 1 || first?.startsWith(LOCAL_MODEL_PREFIX) === true) return first;
  const family = FAMILIES.find((one) => models.some((id) => one.models.includes(id)));
  return models.find((id) => id === family?.defaultModel);
}

async function modelsOf(
  client: ApiClient,
  voiceId: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const { value } = await getVoice(client, voiceId, signal);
  return value.modelIds;
}
