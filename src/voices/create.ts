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
import type { IntentJournal, IntentMetadata } from '../durable/intents.ts';
import { Failure } from '../errors/failure.ts';
import { recordFailure, beginBilledRequest } from '../speech/billed-request.ts';
import type { BilledRequest } from '../speech/billed-request.ts';

export interface CloneOrder {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  readonly form: VoiceForm;
  /** Separates the fields of the form; occurs in none of them. */
  readonly boundary: string;
  readonly options: CreateVoiceOptions;
  /** Told how many bytes were handed on, out of how many; each attempt begins at 0 again. */
  readonly onSent: (bytes: number, of: number) => void;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/**
 * Makes a voice of recordings, which are read while they are sent (docs/api/voices.md). An attempt that was
 * cut before all of it was sent is made again; one that may have been done never is.
 * @throws Failure, or the reason of the signal
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

/** How something is asked for that may cost something. */
export interface DesignDeps {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  readonly options: BilledOptions;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/**
 * Has candidates made under the journal (docs/api/voice-design.md); repeated under the same key it costs nothing.
 * @throws Failure, or the reason of the signal
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
 * Makes a permanent voice of a candidate under the journal (docs/api/voice-design.md).
 * @throws Failure, or the reason of the signal
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

/** Something that is made by one request, and may cost something. */
export interface PaidCreate<Made extends Priced> {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  /** What is made, as the journal calls it. */
  readonly what: 'voice' | 'design';
  readonly request: RequestSpec;
  /** By which it is found again where the request is too large to be kept. */
  readonly name?: string | undefined;
  /** Sends it; is told when a key was refunded and another is used. */
  ask(onNewKey: (key: string) => Promise<void>): Promise<Made>;
  /** Whether all of it may have been sent; by default it may. */
  readonly mayBeDone?: (() => boolean) | undefined;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

export interface Priced {
  readonly requestId: string;
  readonly creditsUsed: number | undefined;
}

/**
 * Makes something under the journal (docs/billing.md): it is on the disk before it is asked for, and what
 * came of it is noted; what nobody knows stays for `foley recover` to tell.
 * @throws Failure with what the person can do, or the reason of the signal
 */
export async function createPaid<Made extends Priced>(create: PaidCreate<Made>): Promise<Made> {
  const { request, notice } = create;
  const work = await begin(create);
  try {
    const made = await create.ask((key) => work.renew(key));
    await work.ended('published', factsOf(made));
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

function begin<Made extends Priced>(create: PaidCreate<Made>): Promise<BilledRequest> {
  const { client, journal, name, request, what } = create;
  return beginBilledRequest(journal, {
    what,
    wire: client.describe(request),
    target: client.address.kind,
    // A key that is not heeded is no help to whoever looks for what became of it.
    idempotencyKey: request.retry === 'keyed' ? request.key?.value : undefined,
    hasOwnKey: request.key?.madeByTool === false,
    apiKey: client.address.apiKey,
    requestId: request.requestId ?? null,
    output: null,
    temporary: null,
    body: name === undefined ? request.body?.bytes : jsonBody({ name }).bytes,
  });
}

async function recordCancellation<Made extends Priced>(
  { mayBeDone, request, what }: PaidCreate<Made>,
  work: BilledRequest,
): Promise<string> {
  if (mayBeDone?.() === false) {
    await work.ended('rejected', { problem: 'stopped before all of it was sent' });
    return `foley: stopped before all of it was sent; no ${what} was made`;
  }
  const next =
    work.key === undefined
      ? request.lookAt
      : `To go on without paying twice, run it again with --idempotency-key ${work.key}.`;
  return `foley: stopped before the answer came; it may have been done. ${next}`;
}

function factsOf({ creditsUsed, requestId }: Priced): IntentMetadata {
  return creditsUsed === undefined ? { requestId } : { requestId, creditsUsed };
}

/** The same body, of which it is told how much was handed on; each attempt begins at 0 again. */
export function watchedBody(body: StreamedBody, onSent: (bytes: number) => void): StreamedBody {
  return {
    ...body,
    async *open() {
      let sent = 0;
      onSent(sent);
      for await (const chunk of body.open()) {
        // Before it is handed on: of what is not counted yet the service can have nothing.
        sent += chunk.length;
        onSent(sent);
        yield chunk;
      }
    },
  };
}
