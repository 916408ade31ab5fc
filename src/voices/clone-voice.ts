import type { ApiClient } from '../api/client.ts';
import type { CreateVoiceOptions, VoiceForm } from '../api/create-voice.ts';
import { createVoice, createVoiceRequest, voiceUpload } from '../api/create-voice.ts';
import type { MadeVoice } from '../api/made-voice.ts';
import type { IntentJournal } from '../files/intents.ts';
import { createPaid } from './paid-create.ts';
import { watchedBody } from './watched-body.ts';

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
 * Makes a voice of recordings, which are read while they are sent (spec section 4.5). An attempt that was
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
    ask: () => createVoice(client, watched, options),
    mayBeDone: () => sent >= body.byteLength,
    notice,
  });
}
