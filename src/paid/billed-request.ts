import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { ApiClient } from '../api/client.ts';
import { reviseFailure } from '../api/failures.ts';
import type { IdempotencyKey, RequestSpec } from '../api/request.ts';
import type { AudioResponse } from '../api/resources/speech.ts';
import type { ExitName } from '../contract/exit-codes.ts';
import type { Intent, IntentAbout, IntentJournal } from './intents.ts';
import type { Output } from '../durable/output.ts';
import { Failure } from '../errors/failure.ts';
import { billingOf } from './decide.ts';
import type { Outcome, PurchaseMetadata } from './purchase.ts';

/** The journal that records billed requests, or a substitute that records nothing. */
export interface RequestRecorder extends Pick<IntentJournal, 'closeRepeated'> {
  begin(about: IntentAbout, body?: Uint8Array): Promise<RecordedRequest>;
}

/** A recorded request, with methods that record later states. */
export type RecordedRequest = Pick<Intent, 'advance' | 'id' | 'markAs' | 'state'>;

interface BilledRequestOptions {
  readonly client: ApiClient;
  readonly journal: RequestRecorder;
  readonly request: RequestSpec;
  /** The thing that the request creates, such as `job`; default `speech`. */
  readonly what?: string | undefined;
  /** The idempotency key to record; by default the key of `request`, if the service supports idempotency keys. */
  readonly key?: Pick<IdempotencyKey, 'madeByTool' | 'value'> | undefined;
  readonly requestId?: string | undefined;
  /** Flags to add to the command so that its repetition is not charged again; default `--idempotency-key KEY`. */
  readonly repeatWith?: string | undefined;
  /**
   * True if a repetition with `repeatWith` resumes the audio stream. Audio that already arrived is then not billed
   * again.
   */
  readonly isResumable?: boolean | undefined;
  readonly output?: Output | undefined;
  /** The request body, which `foley recover` needs to repeat the request or to look up the result. */
  readonly body?: Uint8Array | undefined;
  /** True if the request speaks a part of a long text. */
  readonly isPart?: boolean | undefined;
  /** The journal record of an interrupted request to repeat; if undefined, a new record is created. */
  readonly resumes?: RecordedRequest | undefined;
}

/**
 * Records a request in the journal before it is sent (docs/billing.md). The record is on the disk when this resolves.
 * @throws Failure of kind `state` if the record cannot be written; nothing was sent
 */
export async function beginBilledRequest(options: BilledRequestOptions): Promise<BilledRequest> {
  const { body, journal, request, resumes } = options;
  // A key that the service ignores does not help to look up the outcome.
  const key = options.key ?? (request.retry === 'keyed' ? request.key : undefined);
  const about = aboutOf(options, key);
  const intent = resumes ?? (await journal.begin(about, body));
  const billed = new BilledRequest(options, about, intent);
  if (resumes === undefined) await billed.send();
  return billed;
}

interface BilledCreate<Created> extends BilledRequestOptions {
  /** Sends the request, whose `onNewKey` records a new idempotency key in the journal. */
  readonly create: (request: RequestSpec) => Promise<Created>;
  /**
   * Handles a failure instead of the default: records it, and returns the failure to report. If this function returns
   * undefined, the default handling follows.
   */
  readonly onFailure?:
    | ((failure: Failure, billed: BilledRequest) => Promise<Failure | undefined>)
    | undefined;
  /**
   * Handles a cancellation instead of the default: records it, and returns the message to print. If this function
   * returns undefined, the default handling follows.
   */
  readonly onCancel?: ((billed: BilledRequest) => Promise<string | undefined>) | undefined;
  readonly notice: (line: string) => void;
}

/**
 * Records a billed request in the journal and sends it (docs/billing.md). If the request fails or is cancelled,
 * records that too.
 * @throws Failure; on abort, the abort reason of the signal
 */
export async function createBilled<Created>(
  options: BilledCreate<Created>,
): Promise<{ readonly created: Created; readonly billed: BilledRequest }> {
  const { create, notice, onCancel, onFailure, request } = options;
  const billed = await beginBilledRequest(options);
  try {
    const onNewKey = (key: string): Promise<void> => billed.renew(key);
    return { created: await create({ ...request, onNewKey }), billed };
  } catch (error) {
    if (request.signal?.aborted === true) {
      const message =
        (await onCancel?.(billed)) ?? (await recordCancellation(billed, undefined, request.lookAt));
      notice(message);
      throw request.signal.reason;
    }
    if (!(error instanceof Failure)) throw error;
    throw (await onFailure?.(error, billed)) ?? (await recordFailure(error, billed, undefined));
  }
}

/** Audio that was saved because it could not be delivered. */
export interface SpooledAudio {
  /** Id of the spool entry; undefined if the spool failed and the audio is in a temporary file. */
  readonly id: string | undefined;
  readonly path: string;
  readonly complete: boolean;
}

/** Records in the journal each state of a request that may cost credits. */
export class BilledRequest {
  readonly isResumable: boolean;
  readonly #options: BilledRequestOptions;
  #about: IntentAbout;
  #intent: RecordedRequest;
  #jobId: string | undefined;

  constructor(options: BilledRequestOptions, about: IntentAbout, intent: RecordedRequest) {
    this.#options = options;
    this.#about = about;
    this.#intent = intent;
    this.isResumable = options.isResumable === true;
  }

  get id(): string {
    return this.#intent.id;
  }

  /** Flags that repeat the request without a second charge; undefined if that is impossible. */
  get repeatWith(): string | undefined {
    const { idempotencyKey: key } = this.#about;
    return this.#options.repeatWith ?? (key === null ? undefined : `--idempotency-key ${key}`);
  }

  /** Whether all audio arrived and was verified. */
  get isVerified(): boolean {
    return this.#intent.state === 'verified';
  }

  async send(): Promise<void> {
    await this.#intent.advance('sent').catch(async (error: unknown) => {
      await this.#markAs('rejected', { problem: 'never sent' });
      throw error;
    });
  }

  /** Records the new idempotency key of a refunded request, before the request is sent again. */
  async renew(key: string): Promise<void> {
    const { body, journal } = this.#options;
    const about = { ...this.#about, idempotencyKey: key, renews: this.id };
    const next = await journal.begin(about, body);
    await this.#markAs('refunded', { problem: 'refunded by the service' });
    this.#intent = next;
    this.#about = about;
    await next.advance('sent');
  }

  /**
   * Records the progress of a request. `accepted`: the response began and is charged, or a job was created; also records
   * later facts about the job. `verified`: all audio arrived. Never throws.
   */
  advance(state: 'accepted' | 'verified', metadata: PurchaseMetadata): Promise<void> {
    this.#jobId ??= metadata.jobId;
    return this.#intent.advance(state, metadata).catch(() => undefined);
  }

  async published(metadata: PurchaseMetadata): Promise<void> {
    await this.#markAs('published', metadata);
    await this.#closeRepeated(true);
  }

  /**
   * Records the outcome of a request in a command that saves no audio, such as one that creates a voice. Success is
   * recorded as `published`.
   */
  async ended(
    outcome: 'lost' | 'published' | 'refunded' | 'rejected',
    metadata: PurchaseMetadata,
  ): Promise<void> {
    await this.#markAs(outcome, metadata);
    if (outcome === 'published') await this.#closeRepeated(false);
  }

  /** Records the failure and its billing outcome. */
  async failed(failure: Failure, spooled: SpooledAudio | undefined): Promise<void> {
    // An accepted job stays open: its result can be downloaded.
    if (this.#jobId !== undefined) return;
    const { message: problem, requestId } = failure;
    const metadata = { problem, requestId };
    if (spooled?.id !== undefined) {
      await this.#markAs('spooled', { ...metadata, spoolId: spooled.id });
    } else if (spooled === undefined && !this.isVerified) {
      const billing = billingOf(failure, false);
      if (billing === 'lost') await this.#markAs('lost', metadata);
      if (billing === 'refunded' || billing === 'refused') await this.#markAs('rejected', metadata);
    }
    // In other cases the operation stays open: `foley recover` finds out the outcome.
  }

  /** Records that the user cancelled the request. Also records which spool entry has the audio received so far. */
  async stopped({ id }: SpooledAudio): Promise<void> {
    if (id !== undefined) await this.#markAs('spooled', { spoolId: id });
  }

  abandoned(): Promise<void> {
    return this.#markAs('abandoned');
  }

  async #closeRepeated(isDelivered: boolean): Promise<void> {
    const about = this.#about;
    if (about.isOwnKey !== true) return;
    const done = { about, jobId: this.#jobId, isDelivered, isResumed: this.isResumable };
    await this.#options.journal.closeRepeated(done).catch(() => undefined);
  }

  // The request was sent: a failure of the journal must not lose the audio.
  #markAs(outcome: Outcome, metadata?: PurchaseMetadata): Promise<void> {
    return this.#intent.markAs(outcome, metadata).catch(() => undefined);
  }
}

function aboutOf(
  {
    client,
    isPart,
    output,
    request,
    requestId = request.requestId,
    what = 'speech',
  }: BilledRequestOptions,
  key: BilledRequestOptions['key'],
): IntentAbout {
  const { apiKey, kind: target } = client.address;
  const { method, url } = client.describe(request);
  const isMarked = target === 'hosted' && apiKey !== undefined && key !== undefined;
  // A stream or a device has no temporary file, and no place for audio that is recovered later.
  const isFile = output?.temporary !== undefined;
  return {
    what,
    endpoint: `${method} ${url.pathname}`,
    origin: url.origin,
    target,
    idempotencyKey: key?.value ?? null,
    ...(key?.madeByTool === false ? { isOwnKey: true } : {}),
    ...(isPart === true ? { isPart } : {}),
    ...(isMarked ? { payer: shortHashOf(apiKey) } : {}),
    requestId: requestId ?? null,
    output: isFile ? path.resolve(output.path) : null,
    temporary: isFile ? path.resolve(output.temporary) : null,
    ...(output?.changes === undefined ? {} : { changes: output.changes }),
  };
}

/**
 * Returns whether an API key belongs to the account that was billed. Only that account can repeat the request without
 * a second charge. Compares the key with the hash in the journal; without a recorded hash, returns true.
 */
export function isPayer({ payer }: IntentAbout, apiKey: string | undefined): boolean {
  return payer === undefined || (apiKey !== undefined && payer === shortHashOf(apiKey));
}

// Too short to reveal the key.
function shortHashOf(apiKey: string): string {
  return crc32(apiKey).toString(16).padStart(8, '0');
}

/**
 * Sets the field `billed` of a failure: `yes` if the request was certainly billed, otherwise `unknown`. If the request
 * got no response or was refunded, returns the failure unchanged.
 */
export function withBillingOutcome(
  failure: Failure,
  response: Pick<AudioResponse, 'creditsUsed'> | undefined,
): Failure {
  if (response === undefined || isRefundedStream(failure)) return failure;
  const isSure = response.creditsUsed !== undefined || failure.billed === 'yes';
  return reviseFailure(failure, { billed: isSure ? 'yes' : 'unknown' });
}

function isRefundedStream({ billed, code }: Failure): boolean {
  return billed === 'no' && (code === 'ERR_GENERATION_FAILED' || code === 'ERR_STORAGE_FULL');
}

/** Records a failure of a billed request. Returns the failure with hints on how to get the audio. */
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
// These failures of this computer can occur although the service sent valid audio.
const LOCAL_EXITS: ReadonlySet<ExitName> = new Set(['exists', 'output', 'state']);

function retryHint(failure: Failure, billed: BilledRequest): string | undefined {
  const { code, exit } = failure;
  const { isResumable, isVerified, repeatWith } = billed;
  if (billingOf(failure, false) === 'stored') {
    return `The audio is billed and stored: run the command again with ${repeatWith} to download it.`;
  }
  // The service would refuse the same request again.
  if (code === 'request_failed') return undefined;
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
 * @param lookAt sentence that tells the user where to check the outcome; used only if the request cannot be repeated
 */
export async function recordCancellation(
  billed: BilledRequest,
  spooled: SpooledAudio | undefined,
  lookAt = 'It may have been billed (`foley profile` shows the credits).',
): Promise<string> {
  if (spooled === undefined) {
    const retry =
      billed.repeatWith === undefined
        ? `. ${lookAt}`
        : `; to resume without a second charge, run it again with ${billed.repeatWith}`;
    return `foley: stopped before the response${retry}`;
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
  if (isRefundedStream(failure)) return [`${saved}.`, failure.hint];
  return billingOf(failure, false) === 'stored' || (isResumable && retry !== undefined)
    ? [`${saved}.`, retry]
    : [`${saved}; a new request may cost again.`, failure.hint];
}
