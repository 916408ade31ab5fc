import type { ApiClient } from '../../api/client.ts';
import { getCapabilities } from '../../api/models.ts';
import { getVoice } from '../../api/voices.ts';
import { FAMILIES } from '../../contract/families.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';

/** How long the text of one request may be. */
export interface TextLimit {
  /** Unicode code points. */
  readonly characters: number;
  /** The model that the limit holds for; undefined where the service chooses among several. */
  readonly modelId: string | undefined;
}

/**
 * The limit of the given model, else of the default model of the voice's family, which has to be sent then
 * (contract, section 5, `--split`). Of a voice without one it is the smallest of all its models. Models that
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
