import {
  advance,
  closeGaps,
  markMissing,
  requestIdOf,
  takeAudio,
  takeNextAudio,
  takeStored,
  wasDelivered,
} from './audio-order.ts';
import { afterDisconnect, completedEnding, timeoutEnding, violation } from './endings.ts';
import {
  checkStatus,
  connect,
  continueAfterWait,
  disconnected,
  proceed,
  takeStatus,
} from './resuming.ts';
import { unspokenWords } from '../paid/unspoken.ts';
import { sendMore, takeText } from './sending.ts';
import type { ReceivedFrame } from './server-message.ts';
import { closed, stopped, takeError, timedOut } from './service-errors.ts';
import type { LiveEvent, LiveState, LiveReducer, Segment, LiveStep, TimerName } from './state.ts';
import {
  emit,
  end,
  isConnected,
  leave,
  owesNothing,
  patch,
  patchSegment,
  run,
  send,
  startTimer,
  stopTimers,
} from './state.ts';

/**
 * Returns the next state of a realtime conversation after an event, and the actions to perform (docs/protocol.md). A
 * pure function: the caller manages sockets and timers, and sends the HTTP requests.
 */
export function transition(state: LiveState, event: LiveEvent): LiveStep {
  return (
    takeNextAudio(state, event) ?? run({ ...state, fraction: event.fraction }, [reducerFor(event)])
  );
}

function reducerFor(event: LiveEvent): LiveReducer {
  switch (event.type) {
    case 'begin':
      return ({ phase }) => (phase === 'idle' ? [connect] : []);
    case 'opened':
    case 'refused':
    case 'message':
    case 'unreadable':
    case 'closed':
      return onConnection(event);
    case 'text':
      return () => [takeText(event.text), continueWithText];
    case 'end':
      return () => [patch({ isInputOver: true }), requireText, continueWithText];
    case 'timer':
      return fired(event.name);
    case 'paused':
      return () => [patch({ isPaused: true }), stopTimers('silence', 'progress')];
    case 'resumed':
      return resumed;
    case 'status':
      return ({ phase }) => (phase === 'querying' ? [takeStatus(event.status)] : []);
    case 'stored':
      return () => [takeStored(event.segmentId, event.audio), afterFetch];
    case 'failed':
      // A request that was aborted may still report a failure, which is ignored.
      return (state) =>
        state.phase === 'querying' || state.isFetching
          ? [end(afterDisconnect(state, event.ending))]
          : [];
    case 'cancel':
      return end({ exit: 'interrupted', code: 'cancelled', message: 'stopped', billed: 'unknown' });
  }
}

// Ignores events of earlier connections.
function onConnection(event: Extract<LiveEvent, { connection: number }>): LiveReducer {
  return (state) => {
    if (event.connection !== state.connection || !isConnected(state)) return [];
    switch (event.type) {
      case 'opened':
        return state.phase === 'connecting' ? [opened] : [];
      case 'refused':
        return [disconnected(event.ending, event.isRetryable, event.retryAfterMs)];
      case 'message':
        return [receive(event.message)];
      case 'unreadable':
        return [end(violation(state, event.problem))];
      case 'closed':
        return [closed(event.code)];
    }
  };
}

const requireText: LiveReducer = ({ segmentCount }) => {
  const message = 'The text is empty';
  const ending = { exit: 'usage', code: 'usage', message, billed: 'no' } as const;
  return segmentCount > 0 ? [] : [end(ending)];
};

const continueWithText: LiveReducer = ({ phase }) => [
  phase === 'waiting' ? continueAfterWait : sendMore,
];

const afterFetch: LiveReducer = ({ phase }) => [phase === 'fetching' ? proceed : sendMore];

const resumed: LiveReducer = (state) => [
  patch({ isPaused: false }),
  ...(isConnected(state) && state.phase !== 'connecting'
    ? [startTimer('silence', state.plan.timeouts.silenceMs), sendMore]
    : []),
];

// Ignores timers that were stopped in the meantime.
function fired(name: TimerName): LiveReducer {
  return ({ timers }) =>
    timers.includes(name)
      ? [patch({ timers: timers.filter((one) => one !== name) }), TIMEOUTS[name]]
      : [];
}

const TIMEOUTS: Readonly<Record<TimerName, LiveReducer>> = {
  reply: ({ phase }) => [timedOut(`no reply while ${phase}`)],
  silence: (state) => [disconnected(timeoutEnding(state, 'the connection sent no data'), true)],
  progress: () => [timedOut('the service made no progress')],
  ping: ({ plan }) => [send({ event: 'ping' }), startTimer('ping', plan.timeouts.pingMs)],
  backoff: checkStatus,
  poll: checkStatus,
};

// A ticket is sent in `auth`; an API key was already in the handshake.
const opened: LiveReducer = ({ plan: { ticket, timeouts } }) => [
  patch({ phase: 'authenticating', isPaused: false }),
  startTimer('reply', timeouts.replyMs),
  startTimer('silence', timeouts.silenceMs),
  ...(ticket === undefined ? [] : [send({ event: 'auth', token: ticket })]),
];

function receive(message: ReceivedFrame): LiveReducer {
  return ({ isPaused, plan }) => [
    ...(isPaused ? [] : [startTimer('silence', plan.timeouts.silenceMs)]),
    take(message),
    // Restarts the progress timer.
    ({ phase }) =>
      !NO_PROGRESS.has(message.event) && (phase === 'speaking' || phase === 'stopping')
        ? [sendMore]
        : [],
  ];
}

const NO_PROGRESS: ReadonlySet<ReceivedFrame['event']> = new Set([
  'pong',
  'usage',
  'warning',
  'error',
]);

function take(message: ReceivedFrame): LiveReducer {
  switch (message.event) {
    case 'authenticated':
      return start;
    case 'ready':
      return ({ phase }) =>
        phase === 'starting' ? [ready, emit({ type: 'notice', message })] : [];
    case 'request_status':
      return takeStatus(message.status);
    case 'error':
      return takeError(message);
    case 'finish':
      return () => [
        emit({ type: 'notice', message }),
        message.reason === 'completed' ? completedAll : stopped(message.reason),
      ];
    case 'warning':
      return ({ segments }) => [emit({ type: 'notice', message: withWords(message, segments) })];
    case 'pong':
      return () => [];
    case 'input_ack':
    case 'segment_accepted':
    case 'audio':
    case 'usage':
    case 'segment_completed':
      return duringSpeech(message);
  }
}

function withWords(
  message: Extract<ReceivedFrame, { event: 'warning' }>,
  segments: readonly Segment[],
): typeof message {
  const { segmentId, unspoken } = message;
  if (unspoken === undefined) return message;
  const segment = segments.find(({ id }) => id === (segmentId ?? segments[0]?.id));
  return { ...message, unspoken: unspokenWords(segment?.texts.join('') ?? '', unspoken) };
}

type SpeechMessage = Extract<
  ReceivedFrame,
  { event: 'input_ack' | 'segment_accepted' | 'audio' | 'usage' | 'segment_completed' }
>;

function duringSpeech(message: SpeechMessage): LiveReducer {
  return (state) => {
    if (state.phase !== 'speaking' && state.phase !== 'stopping') {
      return [end(violation(state, `${message.event} arrived before ready`))];
    }
    switch (message.event) {
      case 'input_ack':
        return (message.acceptedSequence ?? 0) < state.nextSequence
          ? []
          : [end(violation(state, 'input_ack names text that was not sent'))];
      case 'segment_accepted':
        return [withSegment(message.segmentId, (one) => accepted(one, message.reservedUnits))];
      case 'audio':
        return [takeAudio(message), advance];
      case 'usage': {
        const sessionUnits = Math.max(state.sessionUnits, message.sessionUnits ?? 0);
        const { audioBytes: reportedBytes, segmentId } = message;
        return [
          patch({ sessionUnits, reportedBytes }),
          closeGaps(segmentId, reportedBytes),
          emit({ type: 'notice', message }),
        ];
      }
      case 'segment_completed':
        return [
          withSegment(message.segmentId, (one) => completed(one, message)),
          closeGaps(message.segmentId, message.audioBytes),
          advance,
        ];
    }
  };
}

const start: LiveReducer = (state) => {
  if (state.phase !== 'authenticating') return [];
  const { mode, request, timeouts } = state.plan;
  const retry = state.retryFailed ? { retryFailed: true } : {};
  return [
    send({ event: 'start', mode, requestId: requestIdOf(state), ...retry, request }),
    patch({ phase: 'starting', isStarted: true }),
    startTimer('reply', timeouts.replyMs),
  ];
};

const ready: LiveReducer = ({ plan, segments }) => {
  // A new connection begins again, but keeps the delivered and stored audio.
  const fresh = {
    state: 'waiting',
    receivedBytes: 0,
    audio: undefined,
    completed: undefined,
    hasSkipped: false,
  } as const;
  return [
    stopTimers('reply'),
    patch({ openError: undefined }),
    patch({ phase: 'speaking', segments: segments.map((one) => ({ ...one, ...fresh })) }),
    startTimer('ping', plan.timeouts.pingMs),
  ];
};

// Ignores segments that were already delivered.
function withSegment(id: string, reducer: (segment: Segment) => LiveReducer): LiveReducer {
  return (state) => {
    // In `simple` mode there is only one segment, so its ids are ignored.
    if (state.plan.mode === 'simple') return [];
    const segment = state.segments.find((one) => one.id === id);
    if (segment !== undefined && segment.state !== 'waiting') return [reducer(segment)];
    if (segment === undefined && wasDelivered(state, id)) return [];
    return [end(violation(state, `segment ${id} was not sent`))];
  };
}

function accepted({ id, characters }: Segment, reservedUnits: number | undefined): LiveReducer {
  return ({ sessionUnits, unitsPerCharacter }) => {
    const units = reservedUnits ?? characters * unitsPerCharacter;
    return [
      patchSegment(id, { state: 'accepted' }),
      patch({
        sessionUnits: sessionUnits + units,
        unitsPerCharacter: Math.max(unitsPerCharacter, units / characters),
      }),
    ];
  };
}

function completed(
  { id }: Segment,
  message: Extract<ReceivedFrame, { event: 'segment_completed' }>,
): LiveReducer {
  return () => [
    patchSegment(id, { state: 'accepted', completed: { audioBytes: message.audioBytes } }),
    emit({ type: 'notice', message }),
  ];
}

const completedAll: LiveReducer = (state) => {
  if (state.phase !== 'stopping') {
    const ending = violation(state, 'finish arrived before stop');
    return [owesNothing(state) ? disconnected(ending, false) : end(ending)];
  }
  if (state.plan.mode === 'simple') {
    const { early, hasDelivered, reportedBytes, segments } = state;
    const [input] = segments;
    const isWhole =
      early.length === 0 &&
      (hasDelivered || reportedBytes === 0) &&
      (input?.hasSkipped !== true || input.deliveredBytes === reportedBytes);
    return [end(isWhole ? completedEnding(state) : violation(state, 'audio is missing'))];
  }
  const open = state.segments.filter((one) => one.state !== 'waiting').map(({ id }) => id);
  return [markMissing(open), leave('fetching', 1000), patch({ isCompleted: true }), proceed];
};
