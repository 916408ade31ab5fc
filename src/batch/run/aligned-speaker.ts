import type { AlignedResponse } from '../../api/resources/aligned.ts';
import { alignedRequest } from '../../api/resources/aligned.ts';
import type { ApiClient } from '../../api/client.ts';
import { reviseFailure } from '../../api/failures.ts';
import type { SpeechOrder } from '../../api/resources/speech.ts';
import type { CaptionFiles, CaptionFormat, CaptionTarget } from '../../captions/caption-files.ts';
import type { CueShape } from '../../captions/cue-shape.ts';
import { timingsOf } from '../../captions/timings.ts';
import { Failure } from '../../errors/failure.ts';
import type { FileDeps } from '../../durable/files.ts';
import { alignedSpeech, requestAligned } from '../../speech/aligned-transport.ts';
import { counted } from '../../text/display.ts';
import type { BatchFolder } from '../journal/batch-folder.ts';
import type { ItemFacts, ItemState, ItemStatus } from '../journal/journal.ts';
import type { DeliveredItem, ItemSpeaker, ItemWork } from './item-speaker.ts';
import type { OutputFolders } from './publish-audio.ts';
import { publishAudio } from './publish-audio.ts';

/** Which captions each item gets, and how cues are cut. */
export interface CaptionWishes {
  readonly formats: readonly CaptionFormat[];
  readonly shape: CueShape;
}

export interface AlignedSpeakerOptions extends FileDeps {
  readonly client: ApiClient;
  readonly folder: Pick<BatchFolder, 'note' | 'noteDurably' | 'notePublished' | 'temporaries'>;
  readonly folders: OutputFolders;
  readonly captions: CaptionWishes;
  readonly idleTimeoutMs: number | undefined;
}

/**
 * Speaks items over the aligned stream (docs/api/speech.md#aligned-stream), which tells when words are said and cannot be had
 * again: what is interrupted once it may be paid for is lost with its cost, and never asked for by itself
 * a second time.
 */
export function createAlignedSpeaker(options: AlignedSpeakerOptions): ItemSpeaker {
  return new AlignedSpeaker(options);
}

/** The files of captions beside an output, such as `a.srt` of `a.mp3`. */
export function captionNames(output: string, formats: readonly CaptionFormat[]): readonly string[] {
  return formats.map((format) => `${output.replace(/\.(?:mp3|wave?|og[ga])$/i, '')}.${format}`);
}

/** Method and path of what a key is derived for. */
export function alignedEndpoint(client: ApiClient): string {
  const order = { text: '', voiceId: '' };
  const { method, target } = alignedRequest(client, order, { idempotencyKey: NO_KEY });
  return `${method} ${String(target)}`;
}

/** What is asked for with an order: the same body over another way is another purchase. */
export function alignedBody(client: ApiClient, order: SpeechOrder): Uint8Array {
  const { body } = alignedRequest(client, order, { idempotencyKey: NO_KEY });
  return Buffer.concat([Buffer.from('aligned '), body?.bytes ?? new Uint8Array()]);
}

const NO_KEY = { value: '', madeByTool: false };

class AlignedSpeaker implements ItemSpeaker {
  readonly endpoint: string;
  readonly #options: AlignedSpeakerOptions;

  constructor(options: AlignedSpeakerOptions) {
    this.#options = options;
    this.endpoint = alignedEndpoint(options.client);
  }

  bodyOf(order: SpeechOrder): Uint8Array {
    return alignedBody(this.#options.client, order);
  }

  besides(output: string): readonly string[] {
    return captionNames(output, this.#options.captions.formats);
  }

  async speak(work: ItemWork, signal: AbortSignal): Promise<DeliveredItem> {
    const { folder, folders } = this.#options;
    const targets = this.#targetsOf(work.file);
    await folders.useFor(work.file);
    const temporaryFolder = folder.temporaries;
    const { openCaptionFiles } = await import('../../captions/caption-files.ts');
    const captions = await openCaptionFiles({ ...this.#options, targets, temporaryFolder });
    try {
      return await this.#stream(work, captions, signal);
    } finally {
      await captions.abandon();
    }
  }

  #targetsOf(file: string): CaptionTarget[] {
    const { formats } = this.#options.captions;
    const names = captionNames(file, formats);
    return formats.map((format, index) => ({ format, path: names[index] ?? file }));
  }

  async #stream(
    work: ItemWork,
    captions: CaptionFiles,
    signal: AbortSignal,
  ): Promise<DeliveredItem> {
    const { client, clock, folder, idleTimeoutMs } = this.#options;
    const { about } = work.status;
    if (about === undefined) throw new Error(`${work.item.id} was not written down`);
    let status = await folder.noteDurably(work.status, 'sent', { isRefused: false });
    let answer: AlignedResponse | undefined;
    try {
      const idempotencyKey = { value: about.key, madeByTool: false };
      const options = { idempotencyKey, signal, clock, idleTimeoutMs };
      answer = await requestAligned(client, work.item.order, options);
      status = await this.#noteQuietly(status, 'accepted', costOf(answer));
      return await this.#publish({ ...work, status }, answer, captions);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw await this.#conclude(error, status, answer);
    }
  }

  /** The captions get their names before the audio: where that is, they are. */
  async #publish(
    { file, isNew, item, status }: ItemWork,
    answer: AlignedResponse,
    captions: CaptionFiles,
  ): Promise<DeliveredItem> {
    const { folder, folders } = this.#options;
    const { format, text } = item.order;
    let verified = status;
    let isPartial = false;
    const { temporaries } = folder;
    const place = { format, text, file, folders, temporaries, isNew };
    const published = await publishAudio(
      answer,
      {
        ...place,
        onVerified: async (facts, verdict) => {
          const { durationMs, isComplete, words } = alignedSpeech(answer, verdict);
          isPartial = !isComplete;
          const timings = timingsOf({ text, durationMs, complete: isComplete, words });
          await captions.prepare({ timings, shape: this.#options.captions.shape });
          const known = { ...facts, ...costOf(answer), isPartial };
          verified = await folder.noteDurably(status, 'verified', known);
          await captions.publish();
        },
      },
      this.#options,
    );
    const done = folder.notePublished(verified, published);
    return { status: done, bytes: published.bytes, creditsUsed: answer.creditsUsed, isPartial };
  }

  /** Writes down what a failure means for money, and says it. */
  async #conclude(
    failure: Failure,
    status: ItemStatus,
    answer: AlignedResponse | undefined,
  ): Promise<Failure> {
    const problem = failure.message;
    if (failure.billed === 'no' && answer === undefined) {
      const isRefunded = failure.code === 'ERR_REQUEST_PREVIOUSLY_REFUNDED';
      await this.#noteQuietly(status, isRefunded ? 'failed' : 'sent', { problem, isRefused: true });
      return failure;
    }
    await this.#noteQuietly(status, 'lost', { problem });
    const cost = answer?.creditsUsed;
    const paid =
      cost === undefined
        ? 'it may have been paid for'
        : `it may have cost ${counted(cost, 'credit')}`;
    return reviseFailure(failure, {
      message: `${problem}; ${paid}, and its audio is lost`,
      exit: answer === undefined ? failure.exit : 'lost',
      billed: answer === undefined ? failure.billed : 'unknown',
      hint: '--retry-failed buys it again.',
    });
  }

  async #noteQuietly(status: ItemStatus, state: ItemState, facts: ItemFacts): Promise<ItemStatus> {
    // What is on the disk already says the worst.
    return this.#options.folder.note(status, state, facts).catch(() => status);
  }
}

function costOf({ creditsUsed, requestId }: AlignedResponse): ItemFacts {
  return creditsUsed === undefined ? { requestId } : { requestId, creditsUsed };
}
