import type { ApiClient } from '../../src/api/client.ts';
import { allVoices } from '../../src/api/resources/voices.ts';
import { createTransport } from '../../src/api/transport/http.ts';
import { gatedTransport, RateGate } from '../../src/batch/run/rate-gate.ts';
import type { Context } from '../../src/cli/command.ts';
import { openClient } from '../../src/cli/connect.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { abortable } from '../../src/effects/concurrency.ts';
import { chooseVoice } from '../../src/speech/voice-choice.ts';
import type { BatchFlags } from './batch-flags.ts';
import type { PreparedBatch } from './prepare.ts';

/** The service of a batch. All requests go through one rate gate. */
export interface BatchConnection {
  readonly client: ApiClient;
  /** `embedded`, or the address of the service. */
  readonly origin: string;
  readonly target: 'embedded' | 'hosted';
  /** The voice of items that name none; empty when all name one. */
  readonly voiceId: string;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects to the service, and looks up the default voice if an item needs it.
 * @throws Failure
 */
export async function connectBatch(
  context: Context,
  { flags, needsVoice }: Pick<PreparedBatch, 'flags' | 'needsVoice'>,
): Promise<BatchConnection> {
  const { client: plain, target } = await abortable(
    context.connect({ speaks: true }),
    context.signal,
  );
  const { address } = plain;
  const transport = createTransport({ ...context, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const gated = gatedTransport(transport, new RateGate(context.clock), context.clock);
  const client = openClient(context, address, gated);
  try {
    const origin = target === 'embedded' ? target : address.baseUrl.href.replace(/\/+$/, '');
    const voiceId = needsVoice ? await defaultVoice(context, flags, client, target) : '';
    return { client, origin, target, voiceId, close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function defaultVoice(
  context: Context,
  { voice, voiceName }: BatchFlags,
  client: ApiClient,
  target: BatchConnection['target'],
): Promise<string> {
  const settings = await context.settings();
  const configuredVoice = resolveSetting(settings, 'voice')?.value;
  return chooseVoice({ voice, voiceName, configuredVoice, target }, async function* () {
    const query = { includePersonal: true, signal: context.signal };
    for await (const listed of allVoices(client, query)) yield listed.voice;
  });
}
