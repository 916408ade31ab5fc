import { close, drop, expectMessage, send } from './script.ts';
import type { Step } from './script.ts';
import { segmentFrames } from './segment-audio.ts';
import SEQUENCES from './sequences.json' with { type: 'json' };
import type { Message } from './wire-names.ts';

/** The outcome is what a command must give: exit code, number of audio frames in its file, and whether it was billed. */
type Row = readonly [name: string, words: string, outcome: readonly (string | number)[]];

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
export const SIMPLE_SEQUENCES: readonly Row[] = rowsOf(
  Object.assign({}, ...Object.values(SEQUENCES.simple)),
);

/** The same in reliable mode. The text has two segments, `s1` and `s2`. */
export const RELIABLE_SEQUENCES: readonly Row[] = rowsOf(SEQUENCES.reliable);

function rowsOf(sequences: Readonly<Record<string, readonly (string | number)[]>>): Row[] {
  return Object.entries(sequences).map(([name, [words, ...outcome]]) => [
    name,
    String(words).replace('{numbers}', numbers(100, 2)),
    outcome,
  ]);
}

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
      case 'pong':
        return say(name);
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
