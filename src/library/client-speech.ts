import { SPEECH_CONTROLS, SPEECH_FORMATS } from '../contract/generated/speech-controls.ts';
import { IDEMPOTENCY_KEY_MAX_CHARACTERS } from '../contract/limits.ts';
import {
  REALTIME_ID_MAX_CHARACTERS,
  REALTIME_LANGUAGE_MAX_CHARACTERS,
  SIMPLE_INPUT_MAX_CHARACTERS,
} from '../contract/realtime/limits.ts';
import type { RealtimeMode } from '../contract/realtime/protocols.ts';
import { REALTIME_FORMATS } from '../contract/realtime/protocols.ts';
import { abortable } from '../system/concurrency.ts';
import { system } from '../system/system.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import { createSegmentCutter } from '../live/feed-text.ts';
import {
  defaultLiveModel,
  httpRequests,
  LiveMetadata,
  liveTransport,
} from '../live/live-transport.ts';
import { liveTimeouts } from '../live/state.ts';
import { handshakeOf, openWebSockets } from '../live/websocket.ts';
import type { WordTimes as AlignedWords } from '../paid/speakers/aligned-transport.ts';
import { alignedStreamTransport } from '../paid/speakers/aligned-transport.ts';
import type { AudioStream, Spoken } from '../paid/speakers/speak-stream.ts';
import { speak } from '../paid/speakers/speak-stream.ts';
import { unspokenWords } from '../paid/unspoken.ts';
import { countCodePoints } from '../text/code-points.ts';
import type { Rules } from './call.ts';
import { checkOptions, checkValue } from './call.ts';
import type {
  AlignedSpeech,
  AudioListener,
  JobRequest,
  LiveRequest,
  LiveSpeech,
  Speech,
  SpeechRequest,
} from './client-types.ts';
import type { ClientSession } from './session.ts';
import { joinFile, runBilled } from './session.ts';

/** Allowed values of the options that every billed library call has. */
export const BILLED_RULES = {
  idempotencyKey: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_CHARACTERS },
  requestId: { type: 'string', minLength: 1, maxLength: REALTIME_ID_MAX_CHARACTERS },
  signal: { type: 'signal' },
} as const satisfies Rules;

const SPOKEN_RULES = {
  text: { type: 'string', minLength: 1, isRequired: true },
  voiceId: { type: 'string', minLength: 1, isRequired: true },
  modelId: { type: 'string', minLength: 1 },
} as const satisfies Rules;

/** Allowed values of the options of a speech job. */
export const JOB_RULES: Rules = {
  ...SPOKEN_RULES,
  ...BILLED_RULES,
  format: { type: 'string', values: SPEECH_FORMATS },
  ...SPEECH_CONTROLS,
};

const SPEECH_RULES: Rules = { ...JOB_RULES, onAudio: { type: 'function' } };

/** Implements `client.speech.create`. */
export async function createSpeech(
  session: ClientSession,
  request: SpeechRequest,
): Promise<Speech> {
  return runBilled(session, async (tools) => {
    checkOptions('speech.create', request, SPEECH_RULES);
    const plan = speechPlan(request);
    const client = session.api;
    const spoken = await speakIntoMemory(request, (stream) =>
      speak({ ...tools, ...plan, client, output: undefined, stream }),
    );
    return speechOf(request.text, spoken);
  });
}

/** Implements `client.speech.aligned`. */
export async function speakAligned(
  session: ClientSession,
  request: SpeechRequest,
): Promise<AlignedSpeech> {
  const { api: client, options } = session;
  return runBilled(session, async (tools) => {
    checkOptions('speech.aligned', request, SPEECH_RULES);
    const { body, speech, ...plan } = speechPlan(request);
    const { clock } = system;
    const { idleTimeoutMs } = options;
    let aligned: AlignedWords | undefined;
    const transport = alignedStreamTransport(
      client,
      body,
      { ...speech, clock, idleTimeoutMs },
      async (words) => {
        aligned = words;
      },
    );
    const order = { ...tools, ...plan, body, speech, client, transport };
    const spoken = await speakIntoMemory(request, (stream) =>
      speak({ ...order, output: undefined, stream }),
    );
    const { isComplete = false, words = [] } = aligned ?? {};
    return { ...speechOf(request.text, spoken), words, complete: isComplete };
  });
}

/** Converts the options of a library call to a request body, an audio format and request options. */
export function speechPlan(request: JobRequest) {
  const { idempotencyKey, modelId, requestId, signal, text, voiceId } = request;
  const { format = 'mp3' } = request;
  const model = modelId === undefined ? {} : { modelId };
  const body = { text, voiceId, ...model, format, ...controlsOf(request) };
  const key = {
    value: idempotencyKey ?? system.random.uuid(),
    madeByTool: idempotencyKey === undefined,
  };
  return { body, format, speech: { idempotencyKey: key, requestId, signal } };
}

function controlsOf(request: JobRequest | LiveRequest) {
  const given = Object.entries(request).filter(
    ([name, value]) => Object.hasOwn(SPEECH_CONTROLS, name) && value !== undefined,
  );
  return Object.fromEntries(given);
}

async function speakIntoMemory(
  { onAudio }: AudioListener,
  speakTo: (stream: AudioStream) => Promise<Spoken>,
) {
  const chunks: Uint8Array[] = [];
  const spoken = await speakTo({
    memoryBytes: SPOOLED_BYTES_MAX,
    async write(chunk) {
      chunks.push(chunk);
      await onAudio?.(chunk);
    },
    end: () => Promise.resolve(),
  });
  return { audio: joinFile(chunks, spoken.verdict.corrections), spoken };
}

const SPOOLED_BYTES_MAX = 32 * 1024 * 1024;

function speechOf(
  text: string,
  { audio, spoken }: { readonly audio: Uint8Array; readonly spoken: Spoken },
): Speech {
  const { response, verdict } = spoken;
  const { creditsUsed, ignoredParameters, quotaRemaining, requestId, unspoken } = response;
  return {
    audio,
    format: verdict.format,
    durationMs: verdict.durationMs,
    requestId,
    creditsUsed,
    quotaRemaining,
    ignoredParameters,
    unspoken: unspokenWords(text, unspoken),
  };
}

const LIVE_RULES: Rules = {
  ...SPOKEN_RULES,
  text: { isRequired: true },
  format: { type: 'string', values: REALTIME_FORMATS },
  speed: SPEECH_CONTROLS.speed,
  volume: SPEECH_CONTROLS.volume,
  stability: SPEECH_CONTROLS.stability,
  similarity: SPEECH_CONTROLS.similarity,
  language: { ...SPEECH_CONTROLS.language, maxLength: REALTIME_LANGUAGE_MAX_CHARACTERS },
  textNormalization: SPEECH_CONTROLS.textNormalization,
  requestId: BILLED_RULES.requestId,
  signal: BILLED_RULES.signal,
  onAudio: { type: 'function' },
};

const FLUSH_AFTER_MS = 700;

/** Implements `client.speech.live`. */
export async function speakLive(session: ClientSession, request: LiveRequest): Promise<LiveSpeech> {
  const { api: client, options } = session;
  const { clock, random } = system;
  return runBilled(session, async (tools) => {
    const mode = checkLive(request);
    if (session.closed.aborted) {
      throw new Failure('the client is closed', { code: 'network', exit: 'network' });
    }
    const { format = 'mp3', text, voiceId } = request;
    const signal = AbortSignal.any([session.closed, ...(request.signal ? [request.signal] : [])]);
    const modelId = request.modelId ?? (await defaultLiveModel(client, voiceId, signal));
    const requestId = request.requestId ?? random.uuid();
    const timeouts = liveTimeouts(options);
    const metadata = new LiveMetadata();
    const handshake = handshakeOf(client, 'v3', {
      clock,
      requestId,
      timeoutMs: timeouts.replyMs,
    });
    const madeByTool = request.requestId === undefined;
    const transport = liveTransport(
      client,
      {
        plan: {
          protocol: 'v3',
          mode,
          request: { voiceId, modelId, format, ...controlsOf(request) },
          requestId,
          hasOwnRequestId: !madeByTool,
          retryFailed: mode === 'reliable' && !madeByTool,
          maxRetries: client.retry.maxRetries,
          timeouts,
        },
        metadata,
        signal,
        repeatWith: '',
        pieces: (over) => piecesOf(text, over),
        cutter: mode === 'reliable' ? createSegmentCutter('sentence') : undefined,
        flushAfterMs: mode === 'reliable' ? FLUSH_AFTER_MS : undefined,
      },
      {
        clock,
        random,
        openSocket: openWebSockets(handshake, {}),
        ...httpRequests(client, 'v3'),
        onNotice: () => undefined,
      },
    );
    const { audio, spoken } = await speakIntoMemory(request, (stream) =>
      speak({
        ...tools,
        client,
        body: { text: typeof text === 'string' ? text : '', voiceId, modelId },
        speech: { idempotencyKey: { value: requestId, madeByTool }, requestId, signal },
        transport,
        format,
        output: undefined,
        stream,
      }),
    );
    const { creditsUsed, quotaRemaining, segments, unspoken } = metadata;
    return {
      audio,
      format,
      durationMs: spoken.verdict.durationMs,
      requestId: spoken.response.requestId,
      creditsUsed,
      quotaRemaining,
      segments,
      unspoken: unspoken.map((word) => word.text ?? ''),
    };
  });
}

// Returns the mode that suits the text: only a short text fits into one segment.
function checkLive(request: LiveRequest): RealtimeMode {
  checkOptions('speech.live', request, LIVE_RULES);
  const { text } = request;
  if (typeof text !== 'string') {
    if (typeof text === 'object' && Symbol.asyncIterator in text) return 'reliable';
    throw usageFailure('speech.live: text takes a string, or an async iterable of strings');
  }
  checkOptions('speech.live', { text }, { text: SPOKEN_RULES.text });
  return countCodePoints(text) > SIMPLE_INPUT_MAX_CHARACTERS ? 'reliable' : 'simple';
}

// Ends at once when the conversation is over, even if the next piece never arrives.
async function* piecesOf(
  text: LiveRequest['text'],
  over: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  if (typeof text === 'string') {
    yield text;
    return;
  }
  const pieces = text[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await abortable(pieces.next(), over);
      if (done === true) return;
      checkValue('speech.live: a piece of text', value, { type: 'string', isRequired: true });
      yield value;
    }
  } finally {
    void pieces.return?.().catch(() => undefined);
  }
}
