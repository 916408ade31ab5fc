import type { ApiClient } from '../../api/client.ts';
import { getCapabilities } from '../../api/models.ts';
import { getVoice } from '../../api/voices.ts';
import { TEXT_MAX_CHARACTERS } from '../../contract/limits.ts';

/**
 * The longest text of one request: what the model takes, or without one the least that a model of the voice
 * takes (contract, section 5, `--split`). Models that the service does not list have the limit of all.
 * @throws Failure
 */
export async function textLimit(
  client: ApiClient,
  { modelId, voiceId }: { readonly modelId?: string | undefined; readonly voiceId: string },
  signal: AbortSignal | undefined,
): Promise<number> {
  const [{ value }, own] = await Promise.all([
    getCapabilities(client, { signal }),
    modelId === undefined ? modelsOf(client, voiceId, signal) : [modelId],
  ]);
  const limits = value.models
    .filter(({ id }) => own.includes(id))
    .map(({ maxTextLength }) => maxTextLength);
  return Math.max(1, Math.min(TEXT_MAX_CHARACTERS, ...limits));
}

async function modelsOf(
  client: ApiClient,
  voiceId: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const { value } = await getVoice(client, voiceId, signal);
  return value.modelIds;
}
