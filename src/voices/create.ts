import type { ApiClient } from '../api/client.ts';
import type { BilledOptions, RequestSpec, StreamedBody } from '../api/request.ts';
import { jsonBody } from '../api/request.ts';
import type { DesignChoice, DesignOrder, VoiceDesign } from '../api/resources/designs.ts';
import {
  createVoiceDesign,
  designRequest,
  saveDesignRequest,
  saveVoiceDesign,
} from '../api/resources/designs.ts';
import type { CreateVoiceOptions, MadeVoice, VoiceForm } from '../api/resources/voices.ts';
import { createVoice, createVoiceRequest, voiceUpload } from '../api/resources/voices.ts';
import type { IntentJournal } from '../durable/intents.ts';
import { Failure } from '../errors/failure.ts';
import { recordFailure, beginBilledRequest } from '../speech/billed-request.ts';
import type { BilledRequest } from '../speech/billed-request.ts';

export interface CloneOrder {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  readonly form: VoiceForm;
  /** The multipart boundary. */
  readonly boundary: string;
  readonly options: CreateVoiceOptions;
  /** Called with the bytes sent and the total; restarts at 0 for each attempt. */
  readonly onSent: (bytes: number, of: number) => void;
  /** Shows a notice to the user. */
  readonly notice: (line: string) => void;
}

/**
 * Creates a voice from recordings, which are read while they are sent (docs/api/voices.md). An incomplete
 * upload is retried; a complete one never is.
 * @throws Failure, or the signal's reason
 */
export function cloneVoice(order: CloneOrder): Promise<MadeVoice> {
  const { boundary, client, form, journal, notice, onSent, options } = order;
  const body = voiceUpload(form, boundary);
  let sent = 0;
  const watched = watchedBody(body, (bytes) => {
    sent = bytes;
    onSent(bytes, body.byteLength);
  });
  return createPaid({
    client,
    journal,
    what: 'voice',
    request: createVoiceRequest(watched, options),
    name: form.name,
    ask: () => createVoice(client, watched, options),
    mayBeDone: () => sent >= body.byteLength,
    notice,
  });
}

export interface DesignDeps {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  readonly options: BilledOptions;
  /** Shows a notice to the user. */
  readonly notice: (line: string) => void;
}

/**
 * Creates a design under the journal (docs/api/voice-design.md); repeating it with the same key is free.
 * @throws Failure, or the signal's reason
 */
export function designVoice(order: DesignOrder, deps: DesignDeps): Promise<VoiceDesign> {
  const { client, options } = deps;
  return createPaid({
    ...deps,
    what: 'design',
    request: designRequest(order, options),
    ask: (onNewKey) => createVoiceDesign(client, order, { ...options, onNewKey }),
  });
}

/**
 * Saves a candidate as a permanent voice, under the journal (docs/api/voice-design.md).
 * @throws Failure, or the signal's reason
 */
export function saveDesign(choice: DesignChoice, deps: DesignDeps): Promise<MadeVoice> {
  const { client, options } = deps;
  return createPaid({
    ...deps,
    what: 'voice',
    request: saveDesignRequest(choice, options),
    ask: (onNewKey) => saveVoiceDesign(client, choice, { ...options, onNewKey }),
  });
}

/** A billed create of one resource. */
interface PaidCreate<Made extends Priced> {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  /** Its name in the journal. */
  readonly what: 'voice' | 'design';
  readonly request: RequestSpec;
  /** Journalled instead of a body that is too large. */
  readonly name?: string | undefined;
  /** Sends the request; calls back before it uses a new key. */
  ask(onNewKey: (key: string) => Promise<void>): Promise<Made>;
  /** Whether the service may have the whole request; default true. */
  readonly mayBeDone?: (() => boolean) | undefined;
  /** Shows a notice to the user. */
  readonly notice: (line: string) => void;
}

interface Priced {
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
}

/**
 * Sends a billed create under the journal (docs/billing.md): records it before sending, then records its
 * outcome. `foley recover` looks up unknown outcomes.
 * @throws Failure, or the signal's reason
 */
async function createPaid<Made extends Priced>(create: PaidCreate<Made>): Promise<Made> {
  const { request, notice } = create;
  const { client, journal, name, what } = create;
  const work = await beginBilledRequest(journal, {
    what,
    wire: client.describe(request),
    target: client.address.kind,
    // A key that the service ignores does not help to look up the outcome.
    idempotencyKey: request.retry === 'keyed' ? request.key?.value : undefined,
    hasOwnKey: request.key?.madeByTool === false,
    apiKey: client.address.apiKey,
    requestId: request.requestId ?? null,
    output: null,
    temporary: null,
    body: name === undefined ? request.body?.bytes : jsonBody({ name }).bytes,
  });
  try {
    const made = await create.ask((key) => work.renew(key));
    const { creditsUsed, requestId } = made;
    await work.ended('published', {
      requestId,
      ...(creditsUsed === undefined ? {} : { creditsUsed }),
    });
    return made;
  } catch (error) {
    const { signal } = request;
    if (signal?.aborted === true) {
      notice(await recordCancellation(create, work));
      throw signal.reason;
    }
    throw error instanceof Failure ? await recordFailure(error, work, undefined) : error;
  }
}

async function recordCancellation<Made extends Priced>(
  { mayBeDone, request, what }: PaidCreate<Made>,
  work: BilledRequest,
): Promise<string> {
  if (mayBeDone?.() === false) {
    await work.ended('rejected', { problem: 'stopped before the upload was complete' });
    return `foley: stopped before the upload was complete; no ${what} was created`;
  }
  const next =
    work.key === undefined
      ? request.lookAt
      : `To continue without paying twice, run the command again with --idempotency-key ${work.key}.`;
  return `foley: stopped before the response; the service may have created the ${what}. ${next}`;
}

/** Wraps a body to report the bytes sent; restarts at 0 for each attempt. */
function watchedBody(body: StreamedBody, onSent: (bytes: number) => void): StreamedBody {
  return {
    ...body,
    async *open() {
      let sent = 0;
      onSent(sent);
      for await (const chunk of body.open()) {
        // Count before yielding: the service cannot have bytes that are not counted yet.
        sent += chunk.length;
        onSent(sent);
        yield chunk;
      }
    },
  };
}
