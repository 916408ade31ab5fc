import assert from 'node:assert/strict';
import { SUBPROTOCOLS } from '../../../realtime/messages.ts';
import type { Version } from '../../../realtime/messages.ts';
import type { Behaviour } from '../../behaviour.ts';
import { at } from '../../claims.ts';
import { claimClosed, claimError, liveOf, VERSIONS } from '../../live.ts';
import type { LiveOptions, ServiceUnderTest } from '../../service-under-test.ts';
import { NotApplicable } from '../../service-under-test.ts';

const ORIGIN = 'https://studio.example';
const OTHER_ORIGIN = 'https://other.example';

/** How a connection comes about (docs/api/realtime.md and docs/api/authentication.md). */
export const realtimeHandshake: readonly Behaviour[] = [
  ...VERSIONS.flatMap((version) => [...refusals(version), ...tickets(version)]),
  {
    id: 'realtime.v1.handshake',
    section: 'versions',
    on: 'GET /v1/tts/live',
    what: 'A handshake of version 1 is answered with 501 before 101 (ours)',
    async check(service) {
      if (!service.isOurs) throw new NotApplicable('it may have version 1');
      assert.equal((await service.refused('v3', { path: '/v1/tts/live' })).status, 501);
    },
  },
  {
    id: 'realtime.handshake.rate-limit',
    section: 'errors',
    on: 'GET /v3/tts/live',
    what: 'A handshake counts as a request: 429 with `Retry-After` above the limit',
    serve: ['--rate-limit', '0.01/s'],
    async check(service) {
      const { client, answer } = await firstAndSecond(service);
      assert.equal(answer.status, 429);
      assert.match(String(answer.headers['retry-after']), /^\d+$/);
      client.socket.close(1000);
    },
  },
  {
    id: 'realtime.handshake.fault',
    section: 'ours',
    on: 'GET /v3/tts/live',
    what: 'Fault rules answer a handshake, and break a conversation at a byte (ours)',
    serve: [
      '--fault',
      'GET /v3/tts/live; status=503; times=1',
      '--fault',
      'GET /v3/tts/live; reset-after=0',
    ],
    async check(service) {
      assert.equal((await service.refused('v3')).status, 503);
      const client = await service.connect('v3');
      assert.deepEqual(await client.ended(), { kind: 'dropped' });
      assert.deepEqual(client.messages, []);
    },
  },
];

async function firstAndSecond(service: ServiceUnderTest) {
  const client = await service.connect('v3');
  return { client, answer: await service.refused('v3') };
}

type Refusal = readonly [id: string, what: string, status: number, options: LiveOptions];

function refusals(version: Version): readonly Behaviour[] {
  const live = `/${version}/tts/live`;
  const other = version === 'v2' ? 'realtime.tts.msgpack.v3' : 'realtime.tts.msgpack.v2';
  const cases: readonly Refusal[] = [
    ['no-subprotocol', 'Without a subprotocol: 400', 400, { subprotocols: [] }],
    ['other-subprotocol', 'With that of another version: 400', 400, { subprotocols: [other] }],
    ['token-in-url', 'A `token` in the address: 400', 400, { path: `${live}?token=x` }],
    ['api-key-in-url', 'An `api_key` in the address: 400', 400, { path: `${live}?api_key=x` }],
    ['no-key', 'Without a key, and from no page: 401', 401, { key: undefined }],
    ['wrong-key', 'With a key that is not known: 401', 401, { key: 'wrong' }],
    ['path', 'At another path: 404', 404, { path: `/${version}/tts/other` }],
  ];
  return [
    ...cases.map(([id, what, status, options]): Behaviour => ({
      id: `realtime.${version}.handshake.${id}`,
      section: 'authentication',
      on: liveOf(version),
      what,
      async check(service) {
        claimHttp(await service.refused(version, options), status);
      },
    })),
    {
      id: `realtime.${version}.handshake.offers`,
      section: 'realtime',
      on: liveOf(version),
      what: 'Of several subprotocols that are offered, that of the path is taken',
      async check(service) {
        const subprotocols = [other, SUBPROTOCOLS[version]];
        const client = await service.connect(version, { subprotocols });
        await client.expect('authenticated');
        assert.equal(client.socket.protocol, SUBPROTOCOLS[version]);
      },
    },
    {
      id: `realtime.${version}.handshake.origin`,
      section: 'authentication',
      on: liveOf(version),
      what: 'A foreign `Origin` that holds no ticket is 403, with a key or without one (ours)',
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('who may ask is its own choice');
        const origin = 'https://unlisted.example';
        claimHttp(await service.refused(version, { origin }), 403);
        claimHttp(await service.refused(version, { origin, key: undefined }), 403);
      },
    },
    {
      id: `realtime.${version}.handshake.host`,
      section: 'authentication',
      on: liveOf(version),
      what: 'A foreign `Host` is 421 (ours)',
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('its hosts are its own choice');
        const headers = { Host: 'evil.example' };
        claimHttp(await service.refused(version, { headers }), 421);
      },
    },
  ];
}

function claimHttp(
  { status, body }: Awaited<ReturnType<ServiceUnderTest['refused']>>,
  wanted: number,
): void {
  assert.equal(status, wanted, body);
  const { code, message, requestId } = Object(JSON.parse(body));
  for (const field of [code, message, requestId]) assert.equal(typeof field, 'string');
}

function tickets(version: Version): readonly Behaviour[] {
  const on = liveOf(version);
  return [
    {
      id: `realtime.${version}.auth`,
      section: 'authentication',
      on,
      what: 'A page shows its ticket in `auth` and is `authenticated`, once',
      covers: [`${version}.client.auth`, `${version}.error.authentication_failed`],
      async check(service) {
        const token = await ticketFor(service, version, ORIGIN);
        // A second ticket keeps the door open for the second try.
        await ticketFor(service, version, ORIGIN);
        const page = await fromPage(service, version, ORIGIN);
        page.send({ event: 'auth', token });
        await page.expect('authenticated');
        const again = await fromPage(service, version, ORIGIN);
        again.send({ event: 'auth', token });
        await claimError(again, 'authentication_failed', { isTerminal: true });
        await claimClosed(again, 1008);
      },
    },
    {
      id: `realtime.${version}.auth.bound`,
      section: 'authentication',
      on,
      what: 'A ticket is for its own origin only, and is used up by a try from another',
      async check(service) {
        const token = await ticketFor(service, version, ORIGIN);
        await ticketFor(service, version, OTHER_ORIGIN);
        const thief = await fromPage(service, version, OTHER_ORIGIN);
        thief.send({ event: 'auth', token });
        await claimError(thief, 'authentication_failed', { isTerminal: true });
      },
    },
    {
      id: `realtime.${version}.auth.first`,
      section: 'authentication',
      on,
      what: 'Whatever else a page sends first is `authentication_required`, and the end',
      covers: [`${version}.error.authentication_required`],
      async check(service) {
        await ticketFor(service, version, ORIGIN);
        const page = await fromPage(service, version, ORIGIN);
        page.send({ event: 'ping' });
        await claimError(page, 'authentication_required', { isTerminal: true });
        await claimClosed(page, 1008);
      },
    },
    {
      id: `realtime.${version}.auth.twice`,
      section: 'realtime#errors',
      on,
      what: '`auth` on a connection that is authenticated: `already_authenticated`, which can be gone on from',
      covers: [`${version}.error.already_authenticated`],
      async check(service) {
        const client = await service.connect(version);
        await client.expect('authenticated');
        const { eventId } = client.send({ event: 'auth', token: 'any' });
        const error = await claimError(client, 'already_authenticated', { isTerminal: false });
        assert.equal(error['inReplyTo'], eventId);
        client.send({ event: 'ping' });
        await client.expect('pong');
      },
    },
  ];
}

async function ticketFor(
  service: ServiceUnderTest,
  version: Version,
  origin: string,
): Promise<string> {
  const answer = await service.ask(`POST /${version}/tts/browser-tickets`, { body: { origin } });
  return String(at(answer.json(), 'ticket'));
}

async function fromPage(service: ServiceUnderTest, version: Version, origin: string) {
  return service.connect(version, { key: undefined, origin });
}
