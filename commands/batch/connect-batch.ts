import type { ApiClient } from '../../src/api/client.ts';
import { allVoices } from '../../src/api/resources/voices.ts';
import { createTransport } from '../../src/api/transport/http.ts';
import { gatedTransport, createRateGate } from '../../src/batch/run/rate-gate.ts';
import type { Context } from '../../src/cli/command.ts';
import { openClient } from '../../src/cli/connect.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { abortable } from '../../src/effects/concurrency.ts';
import { chooseVoice } from '../../src/speech/voice-choice.ts';
import type { PreparedBatch } from './prepare.ts';

/** The service of a batch, all requests to which go through one gate. */
export interface BatchConnection {
  readonly client: ApiClient;
  /** `embedded`, or the address of the service. */
  readonly origin: string;
  readonly target: 'embedded' | 'hosted';
  /** For items that name none. */
  readonly voiceId: string;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects, and looks the default voice up where an item needs it.
 * @throws Failure
 */
export async function connectBatch(
  context: Context,
  batch: PreparedBatch,
): Promise<BatchConnection> {
  const { client: plain, target } = await abortable(
    context.connect({ speaks: true }),
    context.signal,
  );
  const { address } = plain;
  const transport = createTransport({ ...context, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const gated = gatedTransport(transport, createRateGate(context.clock), context.clock);
  const client = openClient(context, address, gated);
  try {
    const origin = target === 'embedded' ? target : address.baseUrl.href.replace(/\/+$/, '');
    const voiceId = batch.needsVoice ? await voiceOf(context, batch, { client, target }) : '';
    return { client, origin, target, voiceId, close: () => client.close() };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function voiceOf(
  context: Context,
  { flags }: PreparedBatch,
  { client, target }: Pick<BatchConnection, 'client' | 'target'>,
): Promise<string> {
  const settings = await context.settings();
  return chooseVoice(
    {
      voice: flags.voice,
      voiceName: flags.voiceName,
      configuredVoice: resolveSetting(settings, 'voice')?.value,
      target,
    },
    async function* () {
      const query = { includePersonal: true, signal: context.signal };
      for await (const { voice } of allVoices(client, query)) yield voice;
    },
  );
}
