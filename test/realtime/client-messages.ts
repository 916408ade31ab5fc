import type { Kind } from './check-message.ts';
import type { Field, MessageRow, Version } from './messages.ts';

export const BOTH = ['simple', 'reliable'] as const;
const TEXT_EVENT: readonly [number, number] = [1, 2000];

/** Section 4.10, the table of client events. */
export const CLIENT_MESSAGES: readonly MessageRow[] = [
  {
    event: 'auth',
    sender: 'client',
    modes: BOTH,
    fields: [required('token', 'filled'), optional('eventId', 'filled')],
  },
  {
    event: 'start',
    sender: 'client',
    modes: BOTH,
    fields: [
      required('request', 'map'),
      optional('mode', 'string', { values: BOTH }),
      required('eventId', 'filled', { mode: 'reliable' }),
      required('requestId', 'id', { mode: 'reliable' }),
      optional('retryFailed', 'boolean'),
    ],
  },
  {
    event: 'input',
    sender: 'client',
    modes: ['simple'],
    fields: [
      required('text', 'filled', { range: [1, 10_000] }),
      optional('eventId', 'filled'),
      optional('commit', 'boolean'),
    ],
  },
  {
    event: 'text',
    sender: 'client',
    modes: ['reliable'],
    fields: [
      required('eventId', 'filled'),
      required('sequence', 'positive'),
      required('text', 'filled', { range: TEXT_EVENT }),
    ],
  },
  {
    event: 'flush',
    sender: 'client',
    modes: ['reliable'],
    fields: [required('eventId', 'filled'), required('segmentId', 'id')],
  },
  {
    event: 'stop',
    sender: 'client',
    modes: ['reliable'],
    fields: [required('eventId', 'filled')],
  },
  {
    event: 'ping',
    sender: 'client',
    modes: BOTH,
    fields: [required('eventId', 'filled', { mode: 'reliable' }), optional('timestamp', 'integer')],
  },
];

/** The fields of `start.request` in both versions, with the wider range where the profile decides. */
const SHARED_REQUEST: readonly Field[] = [
  required('voiceId', 'filled'),
  required('modelId', 'filled'),
  optional('format', 'string', { values: ['mp3', 'wav', 'opus', 'pcm'] }),
  optional('speed', 'number', { range: [0.5, 2] }),
  optional('volume', 'number', { range: [-20, 20] }),
  optional('stability', 'number'),
  optional('similarity', 'number'),
  optional('language', 'string', { range: [1, 32] }),
  optional('textNormalization', 'boolean'),
  optional('chunkLength', 'integer', { range: [50, 1000] }),
  optional('latency', 'any'),
];

/** Section 4.10: the values of `start.request`. */
export const REQUEST_FIELDS: Readonly<Record<Version, readonly Field[]>> = {
  v2: [
    ...SHARED_REQUEST,
    optional('parameterProfile', 'string', { values: ['legacy', 'product_v1'] }),
    optional('pitch', 'number'),
    optional('emotion', 'string'),
    optional('instructions', 'string'),
    optional('optimizeInstructions', 'boolean'),
  ],
  v3: SHARED_REQUEST,
};

type Limits = Pick<Field, 'mode' | 'version' | 'values' | 'range'>;

/** A field that the spec requires, always or in one mode or version. */
export function required(name: string, kind: Kind, limits: Limits = {}): Field {
  return { name, kind, need: 'required', ...limits };
}

/** An optional field. */
export function optional(name: string, kind: Kind, limits: Limits = {}): Field {
  return { name, kind, need: 'optional', ...limits };
}

/** A field that the spec describes without a name; the name is a guess. */
export function assumed(name: string, kind: Kind): Field {
  return { name, kind, need: 'assumed' };
}
