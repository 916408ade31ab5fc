import { Failure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import type { Context } from './command.ts';

/** Voice and model as the user gave them. */
export interface GivenNames {
  /** `--voice`. */
  readonly voice?: string;
  /** `--model`. */
  readonly model?: string;
}

/** Time limit for suggestions. */
const LONGEST_LOOK_MS = 3_000;

/**
 * The failure of a command, with what was probably meant when the service knows no such voice or model. Only
 * then is the service asked, once; where it does not answer, the failure stays as it is.
 */
export async function suggestNames(
  error: unknown,
  { model, voice }: GivenNames,
  context: Context,
): Promise<unknown> {
  if (!(error instanceof Failure) || error.exit !== 'rejected') return error;
  if (isOf(error, 'voice') && voice !== undefined) {
    return withHint(error, await lookUp(context, (signal) => likeVoice(voice, context, signal)));
  }
  if (isOf(error, 'model') && model !== undefined) {
    return withHint(error, await lookUp(context, (signal) => likeModel(model, context, signal)));
  }
  return error;
}

/** Checks the realtime code, the HTTP code and the rejected field. */
function isOf({ code, details }: Failure, kind: 'model' | 'voice'): boolean {
  if (code.toLowerCase().replace(/^err_/, '') === `${kind}_not_found`) return true;
  const errors: unknown = details?.['errors'];
  return Array.isArray(errors) && errors.some((one) => Object(one).field === `${kind}Id`);
}

async function lookUp(
  { clock, signal }: Context,
  look: (signal: AbortSignal) => Promise<string | undefined>,
): Promise<string | undefined> {
  const limit = new AbortController();
  const cancel = clock.after(LONGEST_LOOK_MS, () => limit.abort());
  try {
    return await look(AbortSignal.any([signal, limit.signal]));
  } catch {
    return undefined;
  } finally {
    cancel();
  }
}

async function likeVoice(
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
  return '`foley voices list` shows the voices.';
}

async function likeModel(
  given: string,
  context: Context,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { getCapabilities } = await import('../api/resources/models.ts');
  const { client } = await context.connect();
  const { models } = (await getCapabilities(client, { signal, maxRetries: 0 })).value;
  const known = models.map(({ id }) => id);
  if (known.includes(given)) return undefined;
  const [near] = closest(given, known, 1);
  return near === undefined ? '`foley models` shows the models.' : `Did you mean ${near}?`;
}

function withHint(failure: Failure, hint: string | undefined): Failure {
  if (hint === undefined) return failure;
  const { billed, cause, code, details, exit, message, requestId, retryAfter, status } = failure;
  const options = { billed, cause, code, details, exit, hint, requestId, retryAfter, status };
  return new Failure(message, options);
}
