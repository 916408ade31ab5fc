import assert from 'node:assert/strict';
import type { Mode, Version } from '../../../realtime/messages.ts';
import { wireName } from '../../../realtime/wire-names.ts';
import type { Message } from '../../../realtime/wire-names.ts';
import type { Behaviour } from '../../behaviour.ts';
import { claimError, liveOf, requestFor, start, VERSIONS } from '../../live.ts';
import { freshKey } from '../../facts.ts';

const SECTION = 'realtime';
const LONG_ID = 'x'.repeat(129);

/** A message of a client that has something wrong in it. */
type Wrong = readonly [what: string, mode: Mode, message: Message, path: string];

/** What each message of a client has to have (docs/api/realtime.md). */
export const realtimeMessages: readonly Behaviour[] = VERSIONS.flatMap((version) => [
  ...WRONG().map((wrong) => refuses(version, wrong)),
  ...starts(version),
  ...replies(version),
]);

function WRONG(): readonly Wrong[] {
  return [
    ['`input` without text', 'simple', { event: 'input' }, 'text'],
    ['`input` with an empty text', 'simple', { event: 'input', text: '' }, 'text'],
    [
      '`input` whose `commit` is a word',
      'simple',
      { event: 'input', text: 'a', commit: 'yes' },
      'commit',
    ],
    ['`text` without a sequence', 'reliable', { event: 'text', text: 'a' }, 'sequence'],
    ['`text` with sequence 0', 'reliable', { event: 'text', sequence: 0, text: 'a' }, 'sequence'],
    [
      '`text` with half a sequence',
      'reliable',
      { event: 'text', sequence: 1.5, text: 'a' },
      'sequence',
    ],
    ['`text` without text', 'reliable', { event: 'text', sequence: 1 }, 'text'],
    [
      '`text` of more than 2,000 characters',
      'reliable',
      { event: 'text', sequence: 1, text: 'a'.repeat(2_001) },
      'text',
    ],
    ['`flush` without a segment id', 'reliable', { event: 'flush' }, 'segmentId'],
    [
      '`flush` with a segment id of 129 characters',
      'reliable',
      { event: 'flush', segmentId: LONG_ID },
      'segmentId',
    ],
    [
      '`ping` whose timestamp is a word',
      'simple',
      { event: 'ping', timestamp: 'now' },
      'timestamp',
    ],
    ['an event that there is not', 'simple', { event: 'sing' }, 'event'],
  ];
}

function refuses(version: Version, [what, mode, message, path]: Wrong): Behaviour {
  return {
    id: `realtime.${version}.${message.event}.${slug(what)}`,
    section: SECTION,
    on: liveOf(version),
    what: `${what}: \`invalid_message\` with \`path\`, and the conversation continues`,
    covers: [
      `${version}.error.invalid_message`,
      'TEXT_EVENT_MAX_CHARACTERS',
      'REALTIME_ID_MAX_CHARACTERS',
    ],
    async check(service) {
      const { client } = await start(service, version, mode);
      client.send(message);
      const wire = wireName(version, path);
      await claimError(client, 'invalid_message', { isTerminal: false, path: wire });
      client.send({ event: 'ping' });
      await client.expect('pong');
    },
  };
}

function slug(what: string): string {
  return what
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function starts(version: Version): readonly Behaviour[] {
  const cases: readonly (readonly [what: string, start: Message, path: string])[] = [
    ['without `request`', { event: 'start' }, 'request'],
    ['of a mode that there is not', { event: 'start', mode: 'fast', request: {} }, 'mode'],
    [
      'of a reliable request without an id',
      { event: 'start', mode: 'reliable', request: {} },
      'requestId',
    ],
    [
      'with a request id of 129 characters',
      { event: 'start', requestId: LONG_ID, request: {} },
      'requestId',
    ],
    [
      'of a simple request with `retry_failed`',
      { event: 'start', retryFailed: true, request: {} },
      'retryFailed',
    ],
    ['without a voice', { event: 'start', request: { modelId: 'm' } }, 'request.voiceId'],
    ['without a model', { event: 'start', request: { voiceId: 'v' } }, 'request.modelId'],
  ];
  return cases.map(([what, message, path]) => ({
    id: `realtime.${version}.start.${slug(what)}`,
    section: SECTION,
    on: liveOf(version),
    what: `\`start\` ${what}: \`invalid_message\`, and another \`start\` may follow`,
    async check(service) {
      const client = await service.connect(version);
      await client.expect('authenticated');
      client.send(message);
      const wire = path
        .split('.')
        .map((part) => wireName(version, part))
        .join('.');
      await claimError(client, 'invalid_message', { isTerminal: false, path: wire });
      client.send({ event: 'start', request: await requestFor(service, version) });
      await client.expect('ready');
    },
  }));
}

function replies(version: Version): readonly Behaviour[] {
  return [
    {
      id: `realtime.${version}.ping`,
      section: 'realtime',
      on: liveOf(version),
      what: '`ping` gives `pong` at any time, with the service’s own time',
      covers: [`${version}.client.ping`, `${version}.server.pong`],
      async check(service) {
        const client = await service.connect(version);
        await client.expect('authenticated');
        const { eventId } = client.send({ event: 'ping', timestamp: 1 });
        const pong = await client.expect('pong', { inReplyTo: eventId });
        assert.ok(Number(pong['timestamp']) > 1e12);
      },
    },
    {
      id: `realtime.${version}.event-id.reliable`,
      section: SECTION,
      on: liveOf(version),
      what: 'Reliable: every event needs an `event_id` that was not used before',
      async check(service) {
        const { client } = await start(service, version, 'reliable');
        const path = wireName(version, 'eventId');
        client.sendExactly({ event: 'ping' });
        await claimError(client, 'invalid_message', { isTerminal: false, path });
        client.send({ event: 'ping', eventId: 'once' });
        await client.expect('pong');
        client.send({ event: 'ping', eventId: 'once' });
        await claimError(client, 'invalid_message', { isTerminal: false, path });
      },
    },
    {
      id: `realtime.${version}.event-id.simple`,
      section: SECTION,
      on: liveOf(version),
      what: 'Simple: an event may come without an `event_id`, and its answer has nothing to reply to',
      async check(service) {
        const { client } = await start(service, version, 'simple');
        client.sendExactly({ event: 'ping' });
        assert.equal((await client.expect('pong'))['inReplyTo'], undefined);
      },
    },
    {
      id: `realtime.${version}.error`,
      section: 'realtime#errors',
      on: liveOf(version),
      what: 'An `error` says whether it is retryable and terminal, and what it is about',
      covers: [`${version}.server.error`],
      async check(service) {
        const { client, requestId } = await start(service, version, 'reliable');
        const { eventId } = client.send({ event: 'flush', segmentId: freshKey() });
        const error = await client.expect('error', { requestId, inReplyTo: eventId });
        assert.deepEqual([error['retryable'], error['terminal']], [false, false]);
      },
    },
    {
      id: `realtime.${version}.warning`,
      section: 'realtime',
      on: liveOf(version),
      what: 'A segment without a word is a `warning`, costs nothing, and is `segment_completed` with no audio (ours)',
      covers: [`${version}.server.warning`],
      async check(service) {
        const { client } = await start(service, version, 'reliable');
        client.send({ event: 'text', sequence: 1, text: '…' });
        await client.expect('input_ack');
        client.send({ event: 'flush', segmentId: 's1' });
        await client.expect('segment_accepted');
        await client.expect('warning', { code: 'nothing_to_say' });
        await client.expect('segment_completed', { segmentUnits: 0, audioBytes: 0 });
      },
    },
  ];
}
