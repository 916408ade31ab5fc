import type { ApiClient, CreateResponse } from '../api/client.ts';
import type { BilledCallOptions, StreamedBody } from '../api/request.ts';
import { jsonBody } from '../api/request.ts';
import type { DesignChoice, DesignRequest, CreatedDesign } from '../api/resources/designs.ts';
import {
  createVoiceDesign,
  designRequest,
  saveDesignRequest,
  saveVoiceDesign,
} from '../api/resources/designs.ts';
import type { CreateVoiceOptions, MadeVoice, VoiceForm } from '../api/resources/voices.ts';
import { createVoice, createVoiceRequest, voiceUpload } from '../api/resources/voices.ts';
import type { RequestRecorder } from '../paid/billed-request.ts';
import { createBilled } from '../paid/billed-request.ts';

export interface CloneOrder {
  readonly client: ApiClient;
  readonly journal: RequestRecorder;
  readonly form: VoiceForm;
  readonly boundary: string;
  readonly options: CreateVoiceOptions;
  /**
   * Called with the number of bytes sent so far and the total. If the upload is repeated, counting starts again at 0.
   */
  readonly onSent: (bytes: number, of: number) => void;
  readonly notice: (line: string) => void;
}

/**
 * Creates a voice from recordings (docs/api/voices.md). Reads the recordings while it sends them. Retries an incomplete
 * upload, but no other failure.
 * @throws Failure, or the signal's abort reason
 */
export function cloneVoice(order: CloneOrder): Promise<MadeVoice> {
  const { boundary, client, form, journal, notice, onSent, options } = order;
  const body = voiceUpload(form, boundary);
  let sent = 0;
  const watched = watchedBody(body, (bytes) => {
    sent = bytes;
    onSent(bytes, body.byteLength);
  });
  return create({
    client,
    journal,
    what: 'voice',
    request: createVoiceRequest(watched, options),
    // The recordings are too large for the journal.
    body: jsonBody({ name: form.name }).bytes,
    create: () => createVoice(client, watched, options),
    async onCancel(billed) {
      if (sent >= body.byteLength) return undefined;
      await billed.ended('rejected', { problem: 'stopped before the upload was complete' });
      return 'foley: stopped before the upload was complete; no voice was created';
    },
    notice,
  });
}

export interface DesignPurchase {
  readonly client: ApiClient;
  readonly journal: RequestRecorder;
  readonly options: BilledCallOptions;
  readonly notice: (line: string) => void;
}

/**
 * Creates a voice design, and records the request in the journal (docs/api/voice-design.md). A retry with the same
 * idempotency key is free.
 * @throws Failure, or the signal's abort reason
 */
export function designVoice(order: DesignRequest, deps: DesignPurchase): Promise<CreatedDesign> {
  const { client, journal, notice, options } = deps;
  const request = designRequest(order, options);
  return create({
    client,
    journal,
    notice,
    what: 'design',
    request,
    body: request.body?.bytes,
    create: (sent) => createVoiceDesign(client, sent),
  });
}

/**
 * Saves a candidate of a voice design as a permanent voice, and records the request in the journal
 * (docs/api/voice-design.md).
 * @throws Failure, or the signal's abort reason
 */
export function saveDesign(choice: DesignChoice, deps: DesignPurchase): Promise<MadeVoice> {
  const { client, journal, notice, options } = deps;
  const request = saveDesignRequest(choice, options);
  return create({
    client,
    journal,
    notice,
    what: 'voice',
    request,
    body: request.body?.bytes,
    create: (sent) => saveVoiceDesign(client, sent),
  });
}

async function create<Created extends CreateResponse>(
  options: Parameters<typeof createBilled<Created>>[0],
): Promise<Created> {
  const { billed, created } = await createBilled(options);
  const { creditsUsed, requestId } = created;
  await billed.ended('published', { requestId, creditsUsed });
  return created;
}

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
