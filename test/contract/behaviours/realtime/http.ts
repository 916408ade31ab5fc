import assert from 'node:assert/strict';
import type { Version } from '../../../realtime/messages.ts';
import { fromWire, isFields } from '../../../realtime/wire-names.ts';
import { answerFields } from '../../answer-fields.ts';
import type { Behaviour } from '../../behaviour.ts';
import { at, claimRefused, claimStatus } from '../../claims.ts';
import { liveOf, perVersion, start, VERSIONS } from '../../live.ts';
import type { ServiceUnderTest } from '../../service-under-test.ts';
import { NotApplicable } from '../../service-under-test.ts';

const SECTION = 'realtime';
const ORIGIN = 'https://studio.example';

/** What realtime speech answers over HTTP. */
export const realtimeHttp: readonly Behaviour[] = [
  ...VERSIONS.flatMap((version) => [
    ...capabilities(version),
    ...ticket(version),
    ...status(version),
  ]),
  ...audio(),
  ...notDocuments(),
];

/** The name of a record of v3 in a version. */
function recordOf(version: Version, name: string): string {
  return version === 'v2' ? name.replace(/( |$)/, 'V2$1') : name;
}

function capabilities(version: Version): readonly Behaviour[] {
  const on = `GET /${version}/tts/capabilities`;
  const model =
    version === 'v3' ? 'RealtimeModel (ours)' : 'RealtimeCapabilitiesV2.models.0 (ours)';
  return [
    ...answerFields(recordOf(version, 'RealtimeCapabilities (ours)'), async (service) =>
      (await service.ask(on)).json(),
    ),
    ...answerFields(model, async (service) => at((await service.ask(on)).json(), 'models.0')),
    {
      id: `realtime.${version}.capabilities.key`,
      section: 'authentication',
      on,
      what: 'Needs the key: 401 without one',
      check: async (service) => {
        const answer = await service.ask(on, { headers: { Authorization: undefined } });
        claimRefused(answer, 401, 'ERR_UNAUTHORIZED', service);
      },
    },
  ];
}

function ticket(version: Version): readonly Behaviour[] {
  const on = `POST /${version}/tts/browser-tickets`;
  return [
    ...answerFields(recordOf(version, 'BrowserTicket (ours)'), async (service) =>
      (await service.ask(on, { body: { origin: ORIGIN } })).json(),
    ),
    {
      id: `realtime.${version}.ticket.origin`,
      section: SECTION,
      on,
      what: '`origin` is needed, and is an origin: scheme, host and port',
      covers: ['BrowserTicketRequest.origin'],
      async check(service) {
        const wrong = [{}, { origin: 7 }, { origin: 'studio' }, { origin: `${ORIGIN}/path` }];
        for (const body of wrong) {
          claimRefused(await service.ask(on, { body }), 400, 'ERR_INVALID_REQUEST', service);
        }
      },
    },
    {
      id: `realtime.${version}.ticket.key`,
      section: 'authentication',
      on,
      what: 'Needs the key: 401 without one',
      async check(service) {
        const headers = { Authorization: undefined };
        const answer = await service.ask(on, { headers, body: { origin: ORIGIN } });
        claimRefused(answer, 401, 'ERR_UNAUTHORIZED', service);
      },
    },
  ];
}

/** A reliable request with one segment, spoken to its end. */
async function spokenRequest(service: ServiceUnderTest, version: Version): Promise<string> {
  return service.once(`a spoken request of ${version}`, async () => {
    const { client, requestId } = await start(service, version, 'reliable');
    client.send({ event: 'text', sequence: 1, text: 'Hello there.' });
    client.send({ event: 'flush', segmentId: 'first' });
    client.send({ event: 'stop' });
    await client.until('finish');
    return requestId;
  });
}

function status(version: Version): readonly Behaviour[] {
  const on = `GET /${version}/tts/requests/{requestId}`;
  const ask = async (service: ServiceUnderTest, requestId: string) =>
    service.ask(`GET /${version}/tts/requests/${requestId}`);
  return [
    ...answerFields(recordOf(version, 'RealtimeRequest'), async (service) =>
      (await ask(service, await spokenRequest(service, version))).json(),
    ),
    {
      id: `realtime.${version}.status.completed`,
      section: 'realtime#request-states',
      on,
      what: 'A request that was spoken is `completed`, and not `retryable`',
      covers: ['state.completed'],
      spends: true,
      async check(service) {
        const answer = await ask(service, await spokenRequest(service, version));
        const body = answer.json();
        assert.ok(isFields(body));
        const { state, retryable } = fromWire(version, body);
        assert.deepEqual({ state, retryable }, { state: 'completed', retryable: false });
      },
    },
    {
      id: `realtime.${version}.status.owner`,
      section: 'authentication',
      on,
      what: 'A missing request, or that of another account: 404',
      spends: true,
      async check(service) {
        claimRefused(await ask(service, 'nobody'), 404, 'ERR_NOT_FOUND', service);
        if (service.otherKey === undefined) throw new NotApplicable('there is one account');
        const requestId = await spokenRequest(service, version);
        const headers = { Authorization: `Bearer ${service.otherKey}` };
        const answer = await service.ask(`GET /${version}/tts/requests/${requestId}`, { headers });
        claimRefused(answer, 404, 'ERR_NOT_FOUND', service);
      },
    },
  ];
}

function audio(): readonly Behaviour[] {
  const on = 'GET /v3/tts/requests/{requestId}/segments/{segmentId}/audio';
  return [
    {
      id: 'realtime.v3.segment.audio',
      section: SECTION,
      on,
      what: 'The audio of a segment that was spoken, as it was sent; it costs nothing again',
      spends: true,
      async check(service) {
        const requestId = await spokenRequest(service, 'v3');
        const answer = await service.ask(`GET /v3/tts/requests/${requestId}/segments/first/audio`);
        claimStatus(answer, 200);
        assert.match(String(answer.header('Content-Type')), /^audio\//);
        assert.ok((await service.listen(answer.bytes)) > 300);
      },
    },
    {
      id: 'realtime.v3.segment.missing',
      section: SECTION,
      on,
      what: 'A segment that there is not: 404',
      spends: true,
      async check(service) {
        const requestId = await spokenRequest(service, 'v3');
        const answer = await service.ask(`GET /v3/tts/requests/${requestId}/segments/other/audio`);
        claimRefused(answer, 404, 'ERR_AUDIO_NOT_FOUND', service);
      },
    },
  ];
}

function notDocuments(): readonly Behaviour[] {
  return [
    ...perVersion<Behaviour>((version) => ({
      id: `realtime.${version}.upgrade-required`,
      section: SECTION,
      on: liveOf(version),
      what: 'Asked for without a handshake: 426 (ours)',
      covers: ['ERR_UPGRADE_REQUIRED'],
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('the spec leaves it open');
        claimRefused(await service.ask(liveOf(version)), 426, 'ERR_UPGRADE_REQUIRED', service);
      },
    })),
    {
      id: 'realtime.v1',
      section: 'versions',
      on: 'GET /v1/tts/live',
      what: 'Version 1 is not described: 501, which names the others (ours)',
      covers: ['ERR_NOT_IMPLEMENTED'],
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('it may have version 1');
        const answer = await service.ask('GET /v1/tts/live');
        claimRefused(answer, 501, 'ERR_NOT_IMPLEMENTED', service);
        assert.match(answer.bytes.toString(), /v3\/tts\/live.*v2\/tts\/live/);
      },
    },
  ];
}
