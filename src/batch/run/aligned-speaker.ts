import type { AlignedResponse } from '../../api/resources/aligned.ts';
import { alignedRequest } from '../../api/resources/aligned.ts';
import type { ApiClient } from '../../api/client.ts';
import { speechJobBody } from '../../api/resources/jobs.ts';
import { reviseFailure } from '../../api/failures.ts';
import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import type { CaptionContent, CaptionFiles } from '../../captions/caption-files.ts';
import type { Output } from '../../durable/output.ts';
import { Failure } from '../../errors/failure.ts';
import type { PurchaseMetadata, PurchaseState } from '../../paid/purchase.ts';
import { billingOf } from '../../paid/decide.ts';
import { deliver } from '../../paid/deliver.ts';
import { reusedMetadata } from '../../paid/reuse/reused.ts';
import {
  alignedSpeech,
  audibleSpeech,
  requestAligned,
} from '../../paid/speakers/aligned-transport.ts';
import { counted } from '../../text/display.ts';
import type { ItemStatus } from '../journal/journal.ts';
import type { KeyOf } from '../journal/keys.ts';
import { itemKeys, renewableKey } from '../journal/keys.ts';
import type { AudioCopies } from './audio-copies.ts';
import type { BatchOptions, CaptionOptions } from './batch-options.ts';
import { captionNames, openItemCaptions, timingsOfItem } from './item-captions.ts';
import type { BodyOf } from './paused-items.ts';
import type {
  DeliveredItem,
  ItemSpeaker,
  ItemWork,
  OnVerified,
  OutputFolders,
} from './publish-audio.ts';
import { boughtItem, findReused, publishItem } from './publish-audio.ts';

/**
 * Returns the bytes that identify a request for audio with word times. They differ from those of a job for the same
 * text, so that the two requests have different idempotency keys.
 */
function alignedBody(client: ApiClient, order: SpeechOrder): Uint8Array {
  const { body } = alignedRequest(client, order, { idempotencyKey: NO_KEY });
  return Buffer.concat([Buffer.from('aligned '), body?.bytes ?? new Uint8Array()]);
}

/**
 * Returns the functions that identify the requests for items: `bodyOf` for the requests of this command, and
 * `otherBodyOf` for those of the same command with captions if this one has none, or without captions if it has some.
 */
export function itemBodies(
  client: ApiClient,
  captions: CaptionOptions | undefined,
): { readonly bodyOf: BodyOf; readonly otherBodyOf: BodyOf } {
  const aligned: BodyOf = (order) => alignedBody(client, order);
  return captions === undefined
    ? { bodyOf: jobBody, otherBodyOf: aligned }
    : { bodyOf: aligned, otherBodyOf: jobBody };
}

function jobBody(order: SpeechOrder): Uint8Array {
  return speechJobBody(order).bytes;
}

const NO_KEY = { value: '', madeByTool: false };

/**
 * Speaks items over the aligned stream (docs/api/speech.md#aligned-stream), which returns word timings. A request without
 * a response is sent again under its key. Once the stream has begun, the service does not send its audio again.
 */
export class AlignedSpeaker implements ItemSpeaker {
  readonly keyOf: KeyOf;
  readonly #batch: BatchOptions;
  readonly #folders: OutputFolders;
  readonly #captions: CaptionOptions;
  readonly #copies: AudioCopies | undefined;

  /**
   * @param copies saves verified audio that could not get its final name, or whose sound still changes, so that the next
   * run restores it; undefined for parts of items
   */
  constructor(
    batch: BatchOptions,
    folders: OutputFolders,
    captions: CaptionOptions,
    copies: AudioCopies | undefined,
  ) {
    this.#batch = batch;
    this.#folders = folders;
    this.#captions = captions;
    this.#copies = copies;
    this.keyOf = itemKeys('createAlignedSpeech', batch);
  }

  readonly bodyOf = (order: SpeechOrder): Uint8Array => alignedBody(this.#batch.client, order);

  readonly sidecars = (output: string): readonly string[] =>
    captionNames(output, this.#captions.formats);

  async speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem> {
    const captions = await openItemCaptions(work.file, this.#captions, this.#folders);
    let output: Output | undefined;
    try {
      // Before anything is billed.
      output = await this.#folders.open(work);
      const delivered = await this.#send(work, { captions, output }, signal);
      if (delivered instanceof Failure) throw delivered;
      return delivered;
    } finally {
      // Does nothing after `publish`.
      await output?.abandon();
      await captions.abandon();
    }
  }

  // Returns a failure if the audio could not get its final name, but is saved.
  async #send(
    work: ItemWork,
    files: OpenFiles,
    signal: AbortSignal,
  ): Promise<DeliveredItem | Failure> {
    const { client, folder, idleTimeoutMs, reuse, system } = this.#batch;
    const reused = await findReused(work, reuse, true);
    if (reused !== undefined) {
      work.onMade?.(0);
      return this.#publish(work, reused, files);
    }
    let status = await folder.note(work.status, 'sent', { isRefused: false }, 'now');
    let response: AlignedResponse | undefined;
    const key = renewableKey(status, this.keyOf, async (renewed) => {
      const sent = { ...renewed, state: 'sent' } as const;
      await folder.plan([sent]);
      status = sent;
    });
    try {
      const options = { ...key, signal, clock: system.clock, idleTimeoutMs };
      response = await requestAligned(client, work.item.order, options);
      status = await this.#noteQuietly(status, 'accepted', costOf(response));
      return await this.#publish({ ...work, status }, response, files);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw await this.#conclude(error, status, response);
    }
  }

  // The captions come first, so that audio never appears without captions.
  async #publish(
    { file, item, status }: ItemWork,
    response: AudioResponse,
    { captions, output }: OpenFiles,
  ): Promise<DeliveredItem | Failure> {
    const { folder, reuse, system } = this.#batch;
    const copies = this.#copies;
    const { reused } = response;
    let known: PurchaseMetadata = {};
    let verified = status;
    let saveable:
      | { readonly content: CaptionContent; readonly facts: PurchaseMetadata }
      | undefined;
    let written: DeliveredItem['captions'];
    const { order } = item;
    const isBought = reused === undefined;
    const copy = isBought ? reuse?.copyOf(boughtItem(order, true), response) : undefined;
    const verdict = await deliver(response, order.format, output, order.text, copy);
    const onVerified: OnVerified = async (facts) => {
      const spoken = alignedSpeech(order.text, response.outcome, verdict.durationMs);
      const speech = audibleSpeech(spoken, await output.audible?.());
      const { shape } = this.#captions;
      const content = { timings: timingsOfItem(item, speech), shape };
      // Words that the voice left out have no times; they are reported by themselves.
      const isPartial = !speech.isComplete && facts.unspoken === undefined;
      known = { ...facts, ...costOf(response), ...reusedMetadata(response), isPartial };
      await captions.prepare(content);
      if (isBought) {
        saveable = { content, facts: known };
        if (item.changes !== undefined && output.temporary !== undefined) {
          await copies?.keep(output.temporary, content, facts);
        }
        verified = await folder.note(status, 'verified', known, 'now');
      }
      written = await captions.publish();
    };
    let published: PurchaseMetadata;
    try {
      const { unspoken } = response;
      const made = { verdict, unspoken };
      published = await publishItem(output, file, made, system.files, onVerified);
    } catch (error) {
      if (saveable === undefined || !(error instanceof Failure)) throw error;
      const { content, facts } = saveable;
      if ((await copies?.save(output, content, facts)) !== true) throw error;
      // The next run finds the copy of the published audio.
      folder.notePublished(status, facts);
      return savedFailure(error, response.creditsUsed);
    }
    // Recorded after the audio has its name: a killed run then looks for the stored audio again.
    if (!isBought) verified = await folder.note(status, 'verified', { ...known, ...published });
    // The service reports the cost in the last event of the stream.
    const { creditsUsed } = response;
    return {
      status: verified,
      published,
      creditsUsed,
      reused,
      ...(written === undefined ? {} : { captions: written }),
    };
  }

  async #conclude(
    failure: Failure,
    status: ItemStatus,
    response: AlignedResponse | undefined,
  ): Promise<Failure> {
    const problem = failure.message;
    const billing = billingOf(failure, response !== undefined);
    // The embedded service refunds a stream that it ends with an error.
    if (billing === 'refused') {
      await this.#noteQuietly(status, 'sent', { problem, isRefused: true });
      return failure;
    }
    if (billing === 'refunded') {
      await this.#noteQuietly(status, 'failed', { problem, isRefused: true });
      return reviseFailure(failure, { hint: '--retry-failed speaks the item again.' });
    }
    if (billing === 'unknown') {
      await this.#noteQuietly(status, 'sent', { problem });
      return reviseFailure(failure, { hint: ASK_AGAIN });
    }
    await this.#noteQuietly(status, 'lost', { problem });
    const cost = response?.creditsUsed;
    const mayHave =
      cost === undefined ? 'may have been billed' : `may have cost ${counted(cost, 'credit')}`;
    const isBilled = response === undefined && failure.billed === 'yes';
    return reviseFailure(failure, {
      message: `${problem}; the item ${isBilled ? 'was billed earlier' : mayHave}, and its audio is lost`,
      exit: response === undefined ? failure.exit : 'lost',
      billed: response === undefined ? failure.billed : 'unknown',
      hint: '--retry-failed speaks and bills the item again.',
    });
  }

  // Ignores errors, because the state `sent` on disk already means that the item may be billed.
  #noteQuietly(
    status: ItemStatus,
    state: PurchaseState,
    facts: PurchaseMetadata,
  ): Promise<ItemStatus> {
    return this.#batch.folder.note(status, state, facts).catch(() => status);
  }
}

interface OpenFiles {
  readonly captions: CaptionFiles;
  readonly output: Output;
}

function savedFailure(failure: Failure, creditsUsed: number | undefined): Failure {
  const cost = creditsUsed === undefined ? '' : ` (${counted(creditsUsed, 'credit')})`;
  return reviseFailure(failure, {
    message: `${failure.message}; the audio${cost} is saved in the state folder`,
    billed: 'yes',
    hint: 'Make the output writable and run the same command again: it restores the audio at no cost.',
  });
}

const ASK_AGAIN =
  'Run the same command again: it repeats the request under the same key, which is not billed twice.';

function costOf({ creditsUsed, requestId }: AudioResponse): PurchaseMetadata {
  return creditsUsed === undefined ? { requestId } : { requestId, creditsUsed };
}
