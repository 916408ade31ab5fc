import type { ApiClient } from '../api/client.ts';
import type { MadeVoice } from '../api/made-voice.ts';
import type {
  DesignChoice,
  DesignOptions,
  DesignOrder,
  VoiceDesign,
} from '../api/voice-designs.ts';
import {
  createVoiceDesign,
  designRequest,
  saveDesignRequest,
  saveVoiceDesign,
} from '../api/voice-designs.ts';
import type { IntentJournal } from '../files/intents.ts';
import { createPaid } from './paid-create.ts';

/** How something is asked for that may cost something. */
export interface DesignDeps {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  readonly options: DesignOptions;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/**
 * Has candidates made under the journal (spec section 4.6); repeated under the same key it costs nothing.
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
 * Makes a permanent voice of a candidate under the journal (spec section 4.6).
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
