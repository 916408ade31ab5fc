import { badAnswer } from '../api/answer.ts';
import type { ApiClient } from '../api/client.ts';
import { jsonBody } from '../api/request.ts';
import { reviseFailure } from '../api/revise-failure.ts';
import { REALTIME_PROTOCOLS } from '../contract/realtime/protocols.ts';
import { Failure } from '../errors/failure.ts';
import type { SpeechWay } from '../speech/speak.ts';
import { Conversation } from './conversation.ts';
import type { ConversationDeps } from './conversation.ts';
import type { FeedOptions } from './feed-text.ts';
import { feedText } from './feed-text.ts';
import { LiveAnswer } from './live-answer.ts';
import type { LiveFacts } from './live-answer.ts';
import type { LivePlan } from './state.ts';

export interface LiveSpeech extends Omit<FeedOptions, 'clock'> {
  readonly plan: LivePlan;
  /** The text as it comes; `over` ends it when nobody listens any more. */
  readonly pieces: (over: AbortSignal) => AsyncIterable<string>;
  /** The flags with which the same is asked for again under its id. */
  readonly repeatWith: string;
  readonly signal: AbortSignal;
  /** Is told what the conversation tells. */
  readonly facts: LiveFacts;
}

/** Realtime speech as a way to speak (spec section 4.10): the same output, journal and spool as every other. */
export function liveWay(client: ApiClient, speech: LiveSpeech, deps: ConversationDeps): SpeechWay {
  const { facts, plan } = speech;
  const { livePath: target } = REALTIME_PROTOCOLS[plan.protocol];
  const { mode, request, requestId } = plan;
  const onNotice: ConversationDeps['onNotice'] = (notice) => {
    facts.take(notice);
    deps.onNotice(notice);
  };
  const conversation = new Conversation(plan, { ...deps, onNotice });
  return {
    request: {
      method: 'GET',
      target,
      host: 'realtime',
      body: jsonBody({ event: 'start', mode, requestId, request }),
      billed: true,
      retry: 'never',
    },
    repeatWith: speech.repeatWith,
    goesOn: mode === 'reliable' && plan.protocol === 'v3',
    ask: () => ask(client, conversation, speech, deps),
  };
}

/** Resolves with the first audio; before it nothing can have been charged. */
async function ask(
  client: ApiClient,
  conversation: Conversation,
  speech: LiveSpeech,
  { clock }: Pick<ConversationDeps, 'clock'>,
): Promise<LiveAnswer> {
  const { facts, pieces, signal } = speech;
  const over = new AbortController();
  const stop = (): void => conversation.stop(asError(signal.reason));
  signal.addEventListener('abort', stop, { once: true });
  const leave = (): void => {
    signal.removeEventListener('abort', stop);
    over.abort();
    conversation.stop(new Error('nobody listens any more'));
  };
  if (signal.aborted) stop();
  conversation.begin();
  feedText(pieces(over.signal), conversation, { ...speech, clock }).catch((error: unknown) => {
    if (!over.signal.aborted) conversation.stop(withCost(asError(error), conversation));
  });
  const audio = conversation.audio[Symbol.asyncIterator]();
  try {
    const first = await audio.next();
    if (first.done === true) throw noAudio(conversation.requestId);
    const body = told(client, follow(first.value, audio), leave);
    return new LiveAnswer(facts, {
      body,
      discard: leave,
      requestId: conversation.requestId,
      maxBytes: client.maxBytes,
    });
  } catch (error) {
    leave();
    throw error instanceof Failure ? client.redact(error) : error;
  }
}

async function* follow(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield first;
  yield* rest;
}

/** The same bytes, without secrets in what goes wrong; whoever leaves them ends the conversation. */
async function* told(
  client: ApiClient,
  audio: AsyncIterable<Uint8Array>,
  leave: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* audio;
  } catch (error) {
    throw error instanceof Failure ? client.redact(error) : error;
  } finally {
    leave();
  }
}

function noAudio(requestId: string): Failure {
  const failure = badAnswer('the service says that all was spoken, and no audio came', {
    requestId,
  });
  return reviseFailure(failure, { billed: 'unknown', hint: undefined });
}

/** Text that cannot be read is a mistake that may have cost something already. */
function withCost(error: Error, { billed }: Conversation): Error {
  return error instanceof Failure ? reviseFailure(error, { billed }) : error;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
