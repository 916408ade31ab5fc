import { createApiClient } from '../../src/api/client.ts';
import type { Clock } from '../../src/system/clock.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { LiveNotice } from '../../src/live/conversation.ts';
import { Conversation } from '../../src/live/conversation.ts';
import { handshakeOf } from '../../src/live/websocket.ts';
import { httpRequests } from '../../src/live/live-transport.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { openWebSockets } from '../../src/live/websocket.ts';
import type { ScriptedServer } from '../realtime/scripted-server.ts';
import { RELIABLE } from './simulation.ts';

/** Skips the delays between attempts; all other timeouts are real. */
export const hasteful: Clock = {
  ...systemClock,
  async sleep(_ms, signal) {
    signal?.throwIfAborted();
  },
};

export interface Heard {
  readonly audio: Buffer;
  /** Undefined after success. */
  readonly failure: Failure | undefined;
  readonly notices: readonly LiveNotice[];
}

/** Runs the driver with a real socket on a scripted server in this process. */
export function driven(server: ScriptedServer, choices: Partial<LivePlan> = {}) {
  const plan: LivePlan = {
    ...RELIABLE,
    requestId: 'request-1',
    request: { voiceId: 'voice-1', modelId: 'vendor-s21pro-flash', format: 'pcm' },
    ...choices,
  };
  const client = createApiClient({
    address: {
      kind: 'hosted',
      baseUrl: new URL(server.baseUrl),
      realtimeUrl: new URL(server.realtimeUrl),
      apiKey: server.key,
    },
    clock: hasteful,
    random: systemRandom,
    version: '0.0.0',
    env: {},
    limits: { maxRetries: 1 },
  });
  const notices: LiveNotice[] = [];
  const handshake = handshakeOf(client, plan.protocol, {
    clock: hasteful,
    requestId: plan.requestId,
    timeoutMs: plan.timeouts.replyMs,
  });
  const conversation = new Conversation(plan, {
    clock: hasteful,
    random: systemRandom,
    openSocket: openWebSockets(handshake, {}),
    ...httpRequests(client, plan.protocol),
    onNotice: (notice) => notices.push(notice),
  });
  return { conversation, notices, close: () => client.close() };
}

/** Speaks texts until the conversation ends. */
export async function speak(
  server: ScriptedServer,
  texts: readonly string[],
  choices: Partial<LivePlan> = {},
): Promise<Heard> {
  const { close, conversation, notices } = driven(server, choices);
  const parts: Uint8Array[] = [];
  let failure: Failure | undefined;
  try {
    conversation.begin();
    for (const text of texts) await conversation.say(text);
    conversation.finish();
    for await (const part of conversation.audio) parts.push(part);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    failure = error;
  } finally {
    await close();
  }
  return { audio: Buffer.concat(parts), failure, notices };
}
