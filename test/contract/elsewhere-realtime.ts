import type { TestedElsewhere } from './behaviour.ts';

const ON = 'GET /v2/tts/live, GET /v3/tts/live';
const ENDINGS = 'test/service/realtime/endings.test.ts';
const RESUMING = 'test/service/realtime/resuming.test.ts';
const MACHINE = 'test/service/realtime/machine.test.ts';

/** What only time, a broken engine or a closing service brings about. */
export const realtimeElsewhere: readonly TestedElsewhere[] = [
  ending(
    'auth-timeout',
    'No ticket within 10 seconds: `authentication_required` (ours: how long)',
    [ENDINGS, 'when no ticket comes in time'],
  ),
  ending(
    'idle',
    'Nothing asked for within two minutes: `connection_closed` (ours)',
    [ENDINGS, 'with `connection_closed` when nothing is asked for'],
    errors('connection_closed'),
  ),
  ending(
    'timeout',
    'A request whose client says nothing for two minutes: `finish` with `timeout` (ours: how long)',
    [ENDINGS, 'when a client that began says nothing more'],
    ['finish.timeout'],
  ),
  ending(
    'draining',
    'A service that closes finishes what it accepted, then `finish` with `server_draining` and 1012; 1013 when it has no time',
    [ENDINGS, 'with `server_draining` and 1012 when the service closes'],
    ['finish.server_draining'],
  ),
  ending(
    'provider-timeout',
    'An engine that is silent for 70 seconds: `provider_timeout`, nothing is charged',
    [ENDINGS, 'with `provider_timeout` when the engine is silent'],
    errors('provider_timeout'),
  ),
  ending(
    'generation-failed',
    'An engine that breaks, also after audio: `generation_failed`, nothing is charged',
    [ENDINGS, 'with `generation_failed` when the engine breaks'],
    errors('generation_failed'),
  ),
  ending(
    'billing-failed',
    'Books that cannot be written: `billing_failed`, and no audio',
    [ENDINGS, 'with `billing_failed` when the books cannot be written'],
    errors('billing_failed'),
  ),
  ending(
    'internal-error',
    'A fault of the program: `internal_error`, reported to the operator',
    [ENDINGS, 'with `internal_error` when the program is at fault'],
    errors('internal_error'),
  ),
  ending(
    'session-limit',
    'More than 100,000 units: `session_limit_exceeded`, and the request is `failed_terminal`',
    [ENDINGS, 'with `session_limit_exceeded` above 100,000 units'],
    [...errors('session_limit_exceeded'), 'SESSION_MAX_UNITS', 'state.failed_terminal'],
  ),
  ending(
    'backpressure',
    'A client that does not read for two minutes: `client_backpressure`; speech waits in bounded memory',
    [
      'test/service/realtime/writer.test.ts',
      'a client that does not read ends with `client_backpressure`',
    ],
    errors('client_backpressure'),
  ),
  ending(
    'unused',
    '`permission_denied` and `finish` with `error` are known and never sent: other codes say it (ours)',
    [MACHINE, 'sends neither `permission_denied` nor a `finish` with `error`'],
    [...errors('permission_denied'), 'finish.error'],
  ),
  ending(
    'resuming',
    'A request that broke in its audio is spoken again byte for byte, for one charge',
    [RESUMING, 'byte for byte the same, for one charge'],
  ),
  ending(
    'killed',
    'What a killed service had begun is given back by the next, and spoken for one charge',
    ['test/check/serve-realtime.test.ts', 'gives everything back at its next start'],
  ),
  ending('stored', 'Stored audio is there for a day; what is known of the request stays (ours)', [
    RESUMING,
    'stored audio is removed after a day',
  ]),
];

function ending(
  id: string,
  what: string,
  test: TestedElsewhere['test'],
  covers: readonly string[] = [],
): TestedElsewhere {
  return { id: `realtime.${id}`, section: 'realtime#errors', on: ON, what, covers, test };
}

function errors(code: string): readonly string[] {
  return [`v2.error.${code}`, `v3.error.${code}`];
}
