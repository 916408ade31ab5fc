import { crc32 } from 'node:zlib';
import { reviseFailure } from '../api/failures.ts';
import type { WireRequest } from '../api/request.ts';
import type { AudioResponse } from '../api/resources/speech.ts';
import type { ExitName } from '../contract/exit-codes.ts';
import type {
  Intent,
  IntentAbout,
  IntentMetadata,
  IntentJournal,
  OpenState,
  SettledState,
} from '../durable/intents.ts';
import type { Failure } from '../errors/failure.ts';
import type { SpooledAudio } from './fallback-sink.ts';

/** A request as the journal records it. */
interface BilledRequestOptions {
  /** `speech` by default. */
  readonly what?: string | undefined;
  readonly wire: WireRequest;
  readonly target: 'embedded' | 'hosted';
  /** Undefined where the service does not support keys. */
  readonly idempotencyKey: string | undefined;
  /** The user chose the key, so an earlier command may have sent the same request under it. */
  readonly hasOwnKey: boolean;
  readonly apiKey: string | undefined;
  readonly requestId: string | null;
  /** Flags that repeat the request without a second charge; `--idempotency-key` by default. */
  readonly repeatWith?: string | undefined;
  /** Retrying with these flags resumes the stream: delivered audio is stored and not billed again. */
  readonly isResumable?: boolean | undefined;
  readonly output: string | null;
  readonly temporary: string | null;
  /** Body with which `foley recover` repeats the request, or finds its result. */
  readonly body?: Uint8Array | undefined;
  /** Resumes the operation of an interrupted command; by default a new one begins. */
  readonly resumes?: Intent | undefined;
}

/**
 * Journals a request before it is sent (docs/billing.md); durable when it resolves.
 * @throws Failure (state); nothing was sent then
 */
export async function beginBilledRequest(
  journal: IntentJournal,
  request: BilledRequestOptions,
): Promise<BilledRequest> {
  const { body, idempotencyKey: key, resumes } = request;
  const intent = resumes ?? (await journal.begin(aboutOf(request, key), body));
  const billed = new BilledRequest(journal, request, intent);
  if (resumes === undefined) await billed.send();
  return billed;
}

/** One request that may cost credits: records each of its states in the journal. */
export class BilledRequest {
  /** The current idempotency key. */
  key: string | undefined;
  /** Repeating it resumes the stream. */
  readonly isResumable: boolean;
  readonly #journal: IntentJournal;
  readonly #request: BilledRequestOptions;
  #intent: Intent;
  #jobId: string | undefined;

  constructor(journal: IntentJournal, request: BilledRequestOptions, intent: Intent) {
    this.#journal = journal;
    this.#request = request;
    this.#intent = intent;
    this.key = request.idempotencyKey;
    this.isResumable = request.isResumable === true;
  }

  /** The operation id, for the spool. */
  get id(): string {
    return this.#intent.id;
  }

  /** Flags that repeat the request without a second charge, where that is possible. */
  get repeatWith(): string | undefined {
    const { key } = this;
    return this.#request.repeatWith ?? (key === undefined ? undefined : `--idempotency-key ${key}`);
  }

  /** All audio arrived and was verified. */
  get isVerified(): boolean {
    return this.#intent.state === 'verified';
  }

  async send(): Promise<void> {
    await this.#intent.advance('sent').catch(async (error: unknown) => {
      await this.#markAs('rejected', { problem: 'never sent' });
      throw error;
    });
  }

  /** Records a new key before a refunded request is sent again under it. */
  async renew(key: string): Promise<void> {
    const next = await this.#journal.begin(aboutOf(this.#request, key), this.#request.body);
    await this.#markAs('failed', { problem: 'refunded by the service' });
    this.#intent = next;
    this.key = key;
    await next.advance('sent');
  }

  /** Records that the response began, which is when it is charged, or that the job was accepted. */
  accepted(metadata: IntentMetadata): Promise<void> {
    this.#jobId = metadata.jobId;
    return this.#advance('accepted', metadata);
  }

  /** Records that the job is done: its audio can be downloaded any number of times. */
  done(metadata: IntentMetadata): Promise<void> {
    return this.#advance('done', metadata);
  }

  /** Records that all audio arrived and was verified; durable when it resolves. */
  verified(metadata: IntentMetadata): Promise<void> {
    return this.#advance('verified', metadata);
  }

  async published(metadata: IntentMetadata): Promise<void> {
    await this.#markAs('published', metadata);
    await this.#closeRepeated(true);
  }

  /** Records an outcome without audio, or `published` where only the id was wanted. */
  async ended(
    state: 'failed' | 'lost' | 'published' | 'rejected',
    metadata: IntentMetadata,
  ): Promise<void> {
    await this.#markAs(state, metadata);
    if (state === 'published') await this.#closeRepeated(false);
  }

  /** Records the failure and its billing outcome. */
  async failed(failure: Failure, spooled: SpooledAudio | undefined): Promise<void> {
    // An accepted job stays open: its result can be downloaded.
    if (this.#jobId !== undefined) return;
    const { message: problem, requestId } = failure;
    const metadata = { problem, ...(requestId === undefined ? {} : { requestId }) };
    if (spooled?.id !== undefined) {
      await this.#markAs('kept', { ...metadata, spoolId: spooled.id });
    } else if (spooled === undefined && !this.isVerified && !isStored(failure)) {
      if (failure.billed === 'yes') await this.#markAs('lost', metadata);
      if (failure.billed === 'no') await this.#markAs('rejected', metadata);
    }
    // In all other cases the operation stays open, and `foley recover` finds out its outcome.
  }

  /** Records that the user cancelled it. */
  async stopped({ id }: SpooledAudio): Promise<void> {
    if (id !== undefined) await this.#markAs('kept', { spoolId: id });
  }

  /** Records that the rest is not wanted. */
  abandoned(): Promise<void> {
    return this.#markAs('abandoned');
  }

  /** Closes operations of killed commands under the same key. */
  async #closeRepeated(isDelivered: boolean): Promise<void> {
    if (!this.#request.hasOwnKey) return;
    const about = aboutOf(this.#request, this.key);
    const done = { about, jobId: this.#jobId, isDelivered, isResumed: this.isResumable };
    await this.#journal.closeRepeated(done).catch(() => undefined);
  }

  // The request was sent: a journal that fails now must not cost the audio.
  #markAs(state: SettledState, metadata?: IntentMetadata): Promise<void> {
    return this.#intent.markAs(state, metadata).catch(() => undefined);
  }

  #advance(state: OpenState, metadata: IntentMetadata): Promise<void> {
    return this.#intent.advance(state, metadata).catch(() => undefined);
  }
}

function aboutOf(request: BilledRequestOptions, idempotencyKey: string | undefined): IntentAbout {
  const { apiKey, hasOwnKey, target, wire } = request;
  const isMarked = target === 'hosted' && apiKey !== undefined && idempotencyKey !== undefined;
  return {
    what: request.what ?? 'speech',
    endpoint: `${wire.method} ${wire.url.pathname}`,
    origin: wire.url.origin,
    target,
    idempotencyKey: idempotencyKey ?? null,
    ...(hasOwnKey ? { isOwnKey: true } : {}),
    ...(isMarked ? { payer: markOf(apiKey) } : {}),
    requestId: request.requestId,
    output: request.output,
    temporary: request.temporary,
  };
}

/** Returns whether a request was sent with this API key, as far as its mark tells. */
export function isPayer({ payer }: IntentAbout, apiKey: string | undefined): boolean {
  return payer === undefined || (apiKey !== undefined && payer === markOf(apiKey));
}

/** Returns a short hash of an API key: many keys share it, so it does not reveal the key. */
function markOf(apiKey: string): string {
  return crc32(apiKey).toString(16).padStart(8, '0');
}

/** Adds the billing outcome to a failure after the response began: it was billed, unless refunded. */
export function withCost(
  failure: Failure,
  response: Pick<AudioResponse, 'creditsUsed'> | undefined,
): Failure {
  if (response === undefined || isRefunded(failure)) return failure;
  const isSure = response.creditsUsed !== undefined || failure.billed === 'yes';
  return reviseFailure(failure, { billed: isSure ? 'yes' : 'unknown' });
}

function isRefunded({ billed, code }: Failure): boolean {
  return code === 'ERR_GENERATION_FAILED' && billed === 'no';
}

/** Records a failure, and returns it with hints on how to get the audio. */
export async function recordFailure(
  failure: Failure,
  billed: BilledRequest,
  spooled: SpooledAudio | undefined,
): Promise<Failure> {
  await billed.failed(failure, spooled);
  const retry = retryHint(failure, billed);
  const hints =
    spooled === undefined ? [failure.hint, retry] : spoolHints(spooled, failure, billed, retry);
  const hint = hints.filter((one) => one !== undefined).join(' ');
  if (hint === '') return failure;
  const isLost = spooled === undefined && retry === IS_LOST && LOCAL_EXITS.has(failure.exit);
  return reviseFailure(failure, { hint, ...(isLost ? { code: 'lost', exit: 'lost' } : {}) });
}

const IS_LOST = 'The audio was billed and is lost.';
/** Exits of local failures, where the audio itself was good. */
const LOCAL_EXITS: ReadonlySet<ExitName> = new Set(['exists', 'output', 'state']);

/** Returns how to repeat the request without a second charge. */
function retryHint(failure: Failure, billed: BilledRequest): string | undefined {
  const { code, exit } = failure;
  const { isResumable, isVerified, repeatWith } = billed;
  if (isStored(failure)) {
    return `The audio is billed and stored: run the command again with ${repeatWith} to download it.`;
  }
  // The service would refuse the same request again.
  if (isResumable && (exit === 'rejected' || code === 'session_limit_exceeded')) return undefined;
  if (isResumable && failure.billed !== 'no' && exit !== 'lost') return resumeHint(billed);
  if (isVerified) return 'All of the audio arrived; run `foley recover` to find it.';
  if (failure.billed === 'unknown') {
    if (repeatWith === undefined) return undefined;
    return `To try again without a second charge, add ${repeatWith}.`;
  }
  return failure.billed === 'yes' && exit !== 'lost' ? IS_LOST : undefined;
}

/**
 * Records that the user cancelled the request, and returns the message to print.
 * @param lookAt where to see the outcome of a request that cannot be repeated
 */
export async function recordCancellation(
  billed: BilledRequest,
  spooled: SpooledAudio | undefined,
  lookAt = 'it may have been billed (`foley profile` shows the credits)',
): Promise<string> {
  if (spooled === undefined) {
    const retry =
      billed.repeatWith === undefined
        ? lookAt
        : `to resume without a second charge, run it again with ${billed.repeatWith}`;
    return `foley: stopped before the response; ${retry}`;
  }
  await billed.stopped(spooled);
  const retry = billed.isResumable ? `. ${resumeHint(billed)}` : '';
  return `foley: stopped; the received audio is saved in ${spooled.path}${retry}`;
}

function resumeHint({ repeatWith }: BilledRequest): string {
  return `The same text with ${repeatWith} resumes without a second charge.`;
}

function spoolHints(
  { complete, id, path: file }: SpooledAudio,
  failure: Failure,
  { isResumable }: BilledRequest,
  retry: string | undefined,
): readonly (string | undefined)[] {
  if (complete && id !== undefined) {
    return [`The audio was billed and is saved in ${file}; \`foley recover ${id}\` restores it.`];
  }
  const saved = `The received audio is saved in ${file}`;
  if (isRefunded(failure)) return [`${saved}.`, failure.hint];
  return isStored(failure) || (isResumable && retry !== undefined)
    ? [`${saved}.`, retry]
    : [`${saved}; a new request may cost again.`, failure.hint];
}

/** Whether the service stores the audio of a failed request (docs/api/errors.md#idempotency, `cache`). */
function isStored({ details }: Pick<Failure, 'details'>): boolean {
  return details?.['audio_url'] !== undefined;
}
