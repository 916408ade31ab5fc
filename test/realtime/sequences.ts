import { close, drop, expectMessage, send } from './script.ts';
import type { Step } from './script.ts';
import { segmentFrames } from './segment-audio.ts';
import type { Message } from './wire-names.ts';

/** What a command must give: exit code, number of audio frames in its file, and whether it was billed. */
type Outcome = readonly [exit: number, frames: number, billed: 'yes' | 'no' | 'unknown'];

type Row = readonly [name: string, words: string, outcome: Outcome];

/**
 * Sequences of a service that the client meets in simple mode, as words:
 * - `auth`, `ready`, `usage`, `pong`, `finish` and `finish:REASON` are messages; `usage-9` reports 9 bytes too few
 * - `start`, `input`, `ping` and `stop` wait for a message of the client; `s1` waits for a segment and accepts it
 * - `a4` is the next audio frame, with the sequence number 4; `done` completes a segment
 * - `E:code` is an error that does not end the session; `E:code~` is retryable, `E:code!` is terminal, and
 *   `E:code<start` replies to `start`
 * - `?` after a message adds null for its optional fields, and an unknown field; `new` is an unknown message
 * - `warn*9` is nine warnings; `close:1000`, `drop` and `silence` end the connection
 */
export const SIMPLE_SEQUENCES: readonly Row[] = [
  // An error that does not end the session, in every state of the client.
  [
    'an error before `authenticated`',
    'E:already_authenticated auth start ready input a1 a2 usage finish',
    [0, 2, 'yes'],
  ],
  [
    'an error before `ready`',
    'auth start E:model_loading ready input a1 a2 usage finish',
    [0, 2, 'yes'],
  ],
  [
    'a slow client before the audio',
    'auth start ready input E:client_backpressure~ a1 a2 usage finish',
    [0, 2, 'yes'],
  ],
  [
    'a slow client during the audio',
    'auth start ready input a1 E:client_backpressure a2 usage finish',
    [0, 2, 'yes'],
  ],
  [
    'an unknown error during the audio',
    'auth start ready input a1 E:something_new a2 usage finish',
    [0, 2, 'yes'],
  ],
  [
    'an engine that recovers',
    'auth start ready input a1 E:provider_timeout~ a2 usage finish',
    [0, 2, 'yes'],
  ],
  [
    'an error after the audio',
    'auth start ready input a1 a2 usage E:internal_error~ finish',
    [0, 2, 'yes'],
  ],
  [
    'a refused ping',
    'auth start ready input a1 ping E:invalid_message<ping a2 usage finish',
    [0, 2, 'yes'],
  ],
  [
    'a message error that is no reply',
    'auth start ready input a1 E:invalid_state a2 usage finish',
    [0, 2, 'yes'],
  ],
  // An error that the client cannot correct.
  ['a refused start', 'auth start E:voice_not_found<start', [20, 0, 'no']],
  [
    'a start that is refused with an unknown code',
    'auth start E:voice_is_resting<start',
    [20, 0, 'no'],
  ],
  ['a refused input', 'auth start ready input E:segment_too_large<input', [20, 0, 'no']],
  ['a text without words', 'auth start ready input E:empty_segment', [20, 0, 'no']],
  ['no credits', 'auth start ready input E:quota_exceeded', [21, 0, 'no']],
  [
    'an error, then the end of the session',
    'auth start ready input a1 E:generation_failed finish:error',
    [23, 0, 'yes'],
  ],
  [
    'an error, then a close',
    'auth start ready input a1 E:something_new close:1000',
    [27, 0, 'yes'],
  ],
  [
    'an error, then nothing',
    'auth start ready input E:billing_failed ping pong ping pong silence',
    [23, 0, 'unknown'],
  ],
  ['a terminal error', 'auth start ready input a1 E:client_backpressure~!', [24, 0, 'yes']],
  // Sequence numbers.
  ['numbers from 0', 'auth start ready input a0 a1 a2 usage finish', [0, 3, 'yes']],
  [
    'numbers with gaps, and the right size',
    'auth start ready input a2 a4 a6 usage finish',
    [0, 3, 'yes'],
  ],
  [
    'a gap in the middle, and the right size',
    'auth start ready input a1 a2 a9 usage finish',
    [0, 3, 'yes'],
  ],
  [
    'a gap, and sizes after every frame',
    'auth start ready input a1 usage a3 usage a5 usage finish',
    [0, 3, 'yes'],
  ],
  [
    'numbers with gaps, and another size',
    'auth start ready input a2 a4 a6 usage-9 finish',
    [25, 0, 'yes'],
  ],
  ['numbers with gaps, and no size', 'auth start ready input a1 a3 finish', [25, 0, 'yes']],
  ['numbers in another order', 'auth start ready input a1 a3/3 a2/2 usage finish', [0, 3, 'yes']],
  ['a repeated number', 'auth start ready input a1 a2 a2/2 usage finish', [0, 2, 'yes']],
  [
    'a hundred numbers with gaps',
    `auth start ready input ${numbers(100, 2)} usage finish`,
    [0, 100, 'yes'],
  ],
  [
    'a hundred numbers with gaps, and another size',
    `auth start ready input ${numbers(100, 2)} usage-9 finish`,
    [25, 0, 'yes'],
  ],
  // Fields and messages that the client does not know, or that say nothing.
  ['null for optional fields', 'auth? start ready? input a1? a2? usage? finish?', [0, 2, 'yes']],
  [
    'null in an error and a warning',
    'auth start ready input warn*1? E:client_backpressure? a1 usage finish',
    [0, 1, 'yes'],
  ],
  [
    'unknown messages in every state',
    'new auth new start new ready new input new a1 new usage new finish',
    [0, 1, 'yes'],
  ],
  ['a second `ready`', 'auth start ready ready input a1 ready a2 usage finish', [0, 2, 'yes']],
  ['a flood of warnings', 'auth start ready input warn*3000 a1 usage finish', [0, 1, 'yes']],
];

/** The same in reliable mode. The text has two segments, `s1` and `s2`. */
export const RELIABLE_SEQUENCES: readonly Row[] = [
  [
    'a slow client between segments',
    'auth start ready s1 a1 usage done E:client_backpressure~ s2 a2 usage done stop finish',
    [0, 2, 'yes'],
  ],
  [
    'an engine that recovers',
    'auth start ready s1 E:provider_timeout~ a1 usage done s2 a2 usage done stop finish',
    [0, 2, 'yes'],
  ],
  [
    'an error before `finish`',
    'auth start ready s1 a1 usage done s2 a2 usage done stop E:internal_error~ finish',
    [0, 2, 'yes'],
  ],
  // All text was spoken, so that nothing is missing, however the session ends.
  ...['E:internal_error!', 'E:connection_closed! close:1000', 'finish:error', 'finish:timeout'].map(
    (end) =>
      [
        `a session that ends with ${end} after the last segment`,
        `auth start ready s1 a1 usage done s2 a2 usage done stop ${end}`,
        [0, 2, 'yes'],
      ] as const,
  ),
  ...[1008, 1011, 4000].map(
    (code) =>
      [
        `a session that is closed with ${code} after the last segment`,
        `auth start ready s1 a1 usage done s2 a2 usage done stop close:${code}`,
        [0, 2, 'yes'],
      ] as const,
  ),
  [
    'a session that ends with an error before the last segment',
    'auth start ready s1 a1 usage done s2 a2 usage stop E:internal_error!',
    [23, 0, 'yes'],
  ],
  [
    'a refused segment',
    'auth start ready s1 a1 usage done s2 E:segment_too_large<flush',
    [20, 0, 'yes'],
  ],
  [
    'numbers with gaps',
    'auth start ready s1 a2 a4 usage done s2 a6 a8 usage done stop finish',
    [0, 4, 'yes'],
  ],
  [
    'numbers with gaps in the second segment',
    'auth start ready s1 a1 a2 usage done s2 a4 a7 usage done stop finish',
    [0, 4, 'yes'],
  ],
  [
    'numbers with gaps that begin again',
    'auth start ready s1 a2 a4 usage done s2 a2 a4 usage done stop finish',
    [0, 4, 'yes'],
  ],
  [
    'null for optional fields',
    'auth? start ready? s1 a1? usage? done? s2 a2? usage? done? stop finish?',
    [0, 2, 'yes'],
  ],
  [
    'a flood of warnings',
    'auth start ready s1 warn*3000 a1 usage done s2 a2 usage done stop finish',
    [0, 2, 'yes'],
  ],
];

/**
 * Ends of a connection, after `ready` or after a segment, while the client has nothing to speak. Each text is written
 * when the connection before it has ended. The outcome is the exit code, and the number of connections.
 */
export const IDLE_SEQUENCES: readonly (readonly [
  name: string,
  after: 'ready' | 'segment_completed',
  end: Step,
  texts: readonly string[],
  outcome: readonly [exit: number, connections: number],
])[] = [
  [
    'a balancer drops the connection',
    'segment_completed',
    drop(),
    ['One.', 'Two.', 'Three.'],
    [0, 3],
  ],
  ['a balancer drops it before the first text', 'ready', drop(), ['', 'One.'], [0, 2]],
  ['the service closes it', 'segment_completed', close(1000), ['One.', 'Two.'], [0, 2]],
  ['the service closes it before the first text', 'ready', close(1001), ['', 'One.'], [0, 2]],
  ['the service restarts', 'segment_completed', close(1012), ['One.', 'Two.'], [0, 2]],
  [
    'the service ends the session',
    'segment_completed',
    send('finish', { reason: 'timeout', units: 4 }),
    ['One.', 'Two.'],
    [0, 2],
  ],
  ['the service fails', 'segment_completed', close(1011), ['One.', 'Two.'], [0, 2]],
  ['a proxy uses a code of its own', 'segment_completed', close(4000), ['One.', 'Two.'], [0, 2]],
  [
    'the service ends the session with an error',
    'segment_completed',
    send('error', { code: 'internal_error', message: '', retryable: false, terminal: true }),
    ['One.', 'Two.'],
    [0, 2],
  ],
  [
    'the service completes the session by itself',
    'segment_completed',
    send('finish', { reason: 'completed', units: 4 }),
    ['One.', 'Two.'],
    [0, 2],
  ],
  [
    'the account has no credits left',
    'segment_completed',
    send('error', { code: 'quota_exceeded', message: '', retryable: false, terminal: true }),
    ['One.'],
    [0, 1],
  ],
  ['nothing more is written', 'segment_completed', drop(), ['One.'], [0, 1]],
  ['the service refuses the client', 'segment_completed', close(1008), ['One.'], [0, 1]],
];

const NULL_CONTROLS = {
  format: null,
  speed: null,
  volume: null,
  stability: null,
  similarity: null,
  language: null,
  chunkLength: null,
  latency: null,
};

/** The audio frames of a sequence, in the order in which they are sent. */
export const FRAMES: readonly Buffer[] = segmentFrames(
  { ordinal: 1, text: 'a sequence', format: 'mp3' },
  { framesPerSegment: 100, frameBytes: 400 },
);

function numbers(count: number, step: number): string {
  return Array.from({ length: count }, (_none, index) => `a${(index + 1) * step}`).join(' ');
}

const OPTIONAL = {
  inReplyTo: null,
  path: null,
  stage: null,
  creditsUsed: null,
  warnings: null,
  sampleRate: null,
  channels: null,
  bitDepth: null,
  novelty: { of: ['another', 'version'] },
};

/** Converts the words of a sequence to the steps of a scripted server. */
export function stepsOf(words: string): Step[] {
  let sent = 0;
  let [segmentId, bytes] = ['', 0];
  return words.split(' ').flatMap((word): Step[] => {
    const isNull = word.endsWith('?');
    const [, name = '', detail = ''] = /^(\w+?)(?:(?=[\d:*/-])(.*?))?\??$/.exec(word) ?? [];
    const say = (event: string, fields: Omit<Message, 'event'> = {}): Step[] => [
      send(event, {
        ...(segmentId === '' ? {} : { segmentId }),
        ...fields,
        ...(isNull ? OPTIONAL : {}),
      }),
    ];
    switch (name) {
      case 'auth':
        return say('authenticated');
      case 'ready':
        return say('ready');
      case 'pong':
        return say('pong');
      case 'new':
        return say('novelty', { text: 'unknown' });
      case 'start':
      case 'input':
      case 'ping':
      case 'stop':
        return [expectMessage(name)];
      case 's':
        [segmentId, bytes] = [`s${detail}`, 0];
        return [
          expectMessage('text'),
          expectMessage('flush', { segmentId }),
          send('segment_accepted', { segmentId, segmentCharacters: 4, reservedUnits: 4 }),
        ];
      case 'a': {
        const [sequence, frame] = detail.split('/').map(Number);
        const audio = FRAMES[frame === undefined ? sent : frame - 1] ?? Buffer.alloc(0);
        // A frame that names its place may be a copy of an earlier one.
        if (frame === undefined || frame > sent) {
          bytes += audio.byteLength;
        }
        sent = Math.max(sent, frame ?? sent + 1);
        return say('audio', { sequence, audio, format: 'mp3' });
      }
      case 'usage': {
        const audioBytes = bytes - Number(detail.slice(1));
        return say('usage', { segmentUnits: 4, sessionUnits: 7, quotaRemaining: 1, audioBytes });
      }
      case 'done':
        return say('segment_completed', { segmentUnits: 4, audioBytes: bytes });
      case 'finish':
        return say('finish', { reason: detail.slice(1) || 'completed', units: 7 });
      case 'warn': {
        const message = 'The service has something to say about this text. '.repeat(2);
        return Array.from({ length: Number(detail.slice(1)) }, () =>
          say('warning', { code: 'talkative', message }),
        ).flat();
      }
      case 'E':
        return [errorStep(word.slice(2), isNull)];
      case 'close':
        return [close(Number(detail.slice(1)))];
      case 'drop':
        return [drop()];
      case 'silence':
        return [{ kind: 'silence' }];
      default:
        throw new Error(`no such word: ${word}`);
    }
  });
}

function errorStep(words: string, isNull: boolean): Step {
  const [, code = '', marks = '', to] = /^(\w+)([~!]*)\??(?:<(\w+))?/.exec(words) ?? [];
  const message = {
    event: 'error',
    code,
    message: `The script says ${code}.`,
    retryable: marks.includes('~'),
    terminal: marks.includes('!'),
    ...(isNull ? OPTIONAL : {}),
  };
  return to === undefined ? { kind: 'send', message } : { kind: 'reply', to, message };
}

/**
 * Messages of a client that the embedded service meets, on one connection. The outcome is the events of the replies,
 * with one word for all audio messages in a row, and the number of billed units. `request` stands for the fields
 * `voiceId` and `modelId`.
 */
export const CLIENT_MESSAGES: readonly (readonly [
  name: string,
  messages: readonly Message[],
  events: string,
  units: number,
])[] = [
  [
    'null for the optional fields in simple mode',
    [
      {
        event: 'start',
        mode: null,
        eventId: null,
        requestId: null,
        retryFailed: null,
        request: NULL_CONTROLS,
      },
      { event: 'ping', eventId: null, timestamp: null },
      { event: 'input', text: 'One.', eventId: null, commit: null },
    ],
    'authenticated ready pong audio usage finish',
    4,
  ],
  [
    'null for the optional fields in reliable mode',
    [
      {
        event: 'start',
        mode: 'reliable',
        requestId: 'r',
        retryFailed: null,
        request: NULL_CONTROLS,
      },
      { event: 'text', sequence: 1, text: 'One.' },
      { event: 'flush', segmentId: 's1' },
      { event: 'stop' },
    ],
    'authenticated ready input_ack segment_accepted audio usage segment_completed finish',
    4,
  ],
  [
    'null for required fields, then the same corrected',
    [
      { event: 'start', request: { voiceId: null } },
      { event: 'start', request: {} },
      { event: 'input', text: null },
      { event: 'input', text: 'One.' },
    ],
    'authenticated error ready error audio usage finish',
    4,
  ],
  [
    'messages and fields that the service does not know',
    [
      { event: 'hello' },
      { event: 'start', novelty: [1], request: {} },
      { event: 'hello' },
      { event: 'input', text: 'One.', novelty: { of: 'another version' } },
    ],
    'authenticated error ready error audio usage finish',
    4,
  ],
  [
    'a ticket in spite of an API key',
    [
      { event: 'auth', token: 'a ticket' },
      { event: 'start', request: {} },
      { event: 'input', text: 'One.' },
    ],
    'authenticated error ready audio usage finish',
    4,
  ],
];

/** Origins in the handshake of a client, and the status of the response. `own` is the address of the service. */
export const ORIGINS: readonly (readonly [
  origin: string | undefined,
  hasKey: boolean,
  status: number,
])[] = [
  [undefined, true, 101],
  ['http://own', true, 101],
  ['https://own', true, 101],
  ['http://own', false, 403],
  ['http://own.evil.example', true, 403],
  ['http://127.0.0.1', true, 403],
  ['https://evil.example', true, 403],
  ['null', true, 403],
];
