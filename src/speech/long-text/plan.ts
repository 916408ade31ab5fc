import type { ApiClient } from '../../api/client.ts';
import { getCapabilities } from '../../api/resources/models.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import { getVoice } from '../../api/resources/voices.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS } from '../../contract/values.ts';
import { FAMILIES } from '../../contract/families.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';
import type { SurfaceName } from '../../contract/speech-surfaces.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';

/** A stretch of the text that is spoken by itself. */
export interface PlannedPart {
  /** Where it begins and ends in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The key under which it is asked for first; null where the service knows none. */
  readonly key: string | null;
}

/** Everything but the text that has to be known to speak a long text, or the rest of it. */
export interface LongTextPlan {
  readonly id: string;
  /** When it was begun, as an ISO date. */
  readonly at: string;
  readonly target: 'embedded' | 'hosted';
  /** The service that was asked; that of an embedded one changes with every command. */
  readonly origin: string;
  /** Parts that are jobs can be fetched again; the others are streams, aligned ones tell the times of words. */
  readonly via: 'job' | 'sync' | 'aligned';
  readonly surface: SurfaceName;
  /** A file gets its name when it is whole; what went into a stream does not come back. */
  readonly delivery: 'file' | 'stream';
  readonly order: Omit<SpeechOrder, 'text'>;
  readonly format: AudioFormat;
  /** Where the whole is to go; null for a stream. */
  readonly output: string | null;
  /** The temporary file in which it grows. */
  readonly temporary: string | null;
  /** The captions that are asked for, as the command that asks for them writes them down. */
  readonly captions?: unknown;
  /** Unicode code points of all parts. */
  readonly characters: number;
  readonly parts: readonly PlannedPart[];
}

/** A plan that was written down; undefined for what is none. */
export function parsePlan(value: unknown): LongTextPlan | undefined {
  return isPlan(value) ? value : undefined;
}

function isPlan(value: unknown): value is LongTextPlan {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const one = (name: string, ...allowed: readonly unknown[]): boolean =>
    allowed.includes(fields.get(name));
  const isTextOrNull = (name: string): boolean =>
    fields.get(name) === null || typeof fields.get(name) === 'string';
  const parts = fields.get('parts');
  return (
    ['id', 'at', 'origin'].every((name) => typeof fields.get(name) === 'string') &&
    ['output', 'temporary'].every((name) => isTextOrNull(name)) &&
    typeof fields.get('characters') === 'number' &&
    one('target', 'embedded', 'hosted') &&
    one('via', 'job', 'sync', 'aligned') &&
    one('delivery', 'file', 'stream') &&
    one('surface', ...Object.keys(SPEECH_SURFACES)) &&
    one('format', ...AUDIO_FORMATS) &&
    isOrder(fields.get('order')) &&
    Array.isArray(parts) &&
    parts.every((part) => isPart(part))
  );
}

function isOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'voiceId' in value && typeof value.voiceId === 'string' && !('text' in value);
}

function isPart(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { start, end, key } = Object.fromEntries(Object.entries(value));
  const isText = key === null || typeof key === 'string';
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && isText;
}

/** How long the text of one request may be. */
export interface TextLimit {
  /** Unicode code points. */
  readonly characters: number;
  /** The model that the limit holds for; undefined where the service chooses among several. */
  readonly modelId: string | undefined;
}

/**
 * The limit of the given model, else of the default model of the voice's family, which has to be sent then
 * (`--split`). Of a voice without one it is the smallest of all its models. Models that
 * the service does not list have the limit of all.
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

/** The default of the family that the models are of; the only one where there is one alone. */
function defaultModel(models: readonly string[]): string | undefined {
  const [first] = models;
  if (models.length === 1) return first;
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
