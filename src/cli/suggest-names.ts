import { reviseFailure } from '../api/failures.ts';
import { Failure } from '../errors/failure.ts';
import { closest, nearestHint } from '../text/did-you-mean.ts';
import type { Context } from './command.ts';

const SUGGESTION_TIMEOUT_MS = 3_000;

/**
 * Adds a suggestion, such as a similar name, to a failure about an unknown voice or model. Sends one request to find
 * the suggestion. If that request fails, or the error is about something else, returns the error unchanged.
 * @param options the values of `--voice` and `--model`
 */
export async function suggestNames(
  error: unknown,
  { model, voice }: { readonly model?: string; readonly voice?: string },
  context: Context,
): Promise<unknown> {
  if (!(error instanceof Failure) || error.exit !== 'rejected') return error;
  if (voice !== undefined && isAbout(error, 'voice')) {
    return withHint(error, context, (signal) => suggestVoice(voice, context, signal));
  }
  if (model !== undefined && isAbout(error, 'model')) {
    return withHint(error, context, (signal) => suggestModel(model, context, signal));
  }
  return error;
}

function isAbout({ code, details }: Failure, kind: 'model' | 'voice'): boolean {
  if (code.toLowerCase().replace(/^err_/, '') === `${kind}_not_found`) return true;
  const errors: unknown = details?.['errors'];
  return Array.isArray(errors) && errors.some((one) => Object(one).field === `${kind}Id`);
}

async function withHint(
  failure: Failure,
  { system: { clock }, signal }: Context,
  suggest: (signal: AbortSignal) => Promise<string | undefined>,
): Promise<Failure> {
  const limit = new AbortController();
  const cancel = clock.after(SUGGESTION_TIMEOUT_MS, () => limit.abort());
  try {
    const hint = await suggest(AbortSignal.any([signal, limit.signal]));
    return hint === undefined ? failure : reviseFailure(failure, { hint });
  } catch {
    return failure;
  } finally {
    cancel();
  }
}

async function suggestVoice(
  given: string,
  context: Context,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { listVoices } = await import('../api/resources/voices.ts');
  const { PAGE_SIZE_MAX } = await import('../contract/limits.ts');
  const { client } = await context.connect();
  const query = { pageSize: PAGE_SIZE_MAX, includePersonal: true, signal };
  const { items } = (await listVoices(client, query)).value;
  const named = items.find(({ name }) => name.toLowerCase() === given.toLowerCase());
  if (named !== undefined) return `That is a voice name: use --voice-name "${named.name}".`;
  const ids = closest(
    given,
    items.map(({ voiceId }) => voiceId),
  );
  if (ids.length > 0) return `Did you mean ${ids.join(', ')}?`;
  const [name] = closest(
    given,
    items.map((voice) => voice.name),
    1,
  );
  if (name !== undefined) return `Did you mean --voice-name "${name}"?`;
  return '`foley voices list` lists the voices.';
}

async function suggestModel(
  given: string,
  context: Context,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { getCapabilities } = await import('../api/resources/models.ts');
  const { client } = await context.connect();
  const { models } = (await getCapabilities(client, { signal, maxRetries: 0 })).value;
  const known = models.map(({ id }) => id);
  if (known.includes(given)) return undefined;
  return nearestHint(given, known, '`foley models` lists the models.');
}
