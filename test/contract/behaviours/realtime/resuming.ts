import assert from 'node:assert/strict';
import type { Version } from '../../../realtime/messages.ts';
import type { RawRealtimeClient } from '../../../realtime/raw-client.ts';
import { fromWire, isFields } from '../../../realtime/wire-names.ts';
import type { Fields } from '../../../realtime/wire-names.ts';
import type { Behaviour } from '../../behaviour.ts';
import { creditsOf } from '../../facts.ts';
import { claimClosed, claimError, liveOf, requestFor, start, VERSIONS } from '../../live.ts';
import type { ServiceUnderTest } from '../../service-under-test.ts';

const SECTION = 'realtime#request-states';
const TEXT = 'Ten chars.';

/** What a request id is for: nothing is spoken or charged twice. */
export const realtimeResuming: readonly Behaviour[] = VERSIONS.flatMap((version) => [
  replayed(version),
  running(version),
  conflict(version),
  rerun(version),
  repeated(version),
  changed(version),
]);

function replayed(version: Version): Behaviour {
  return {
    id: `realtime.${version}.replay`,
    section: SECTION,
    on: liveOf(version),
    what: 'The same request again is answered with `request_status`, and costs nothing',
    covers: [`${version}.server.request_status`, 'state.completed'],
    spends: true,
    async check(service) {
      const { client, requestId } = await start(service, version, 'reliable');
      speak(client, 1, TEXT);
      client.send({ event: 'stop' });
      await client.until('finish');
      const before = await creditsOf(service);
      const again = await restart(service, version, requestId);
      const status = await again.expect('request_status', {
        state: 'completed',
        retryable: false,
        resultAvailable: true,
        units: 10,
      });
      const { segments } = status;
      assert.equal(Array.isArray(segments) && Object(segments[0]).audioBytes, client.audio.length);
      await claimClosed(again, 1000);
      assert.equal(await creditsOf(service), before);
    },
  };
}

function running(version: Version): Behaviour {
  return {
    id: `realtime.${version}.replay.running`,
    section: SECTION,
    on: liveOf(version),
    what: 'While another connection speaks it: `request_status` with `running`, also with `retry_failed`',
    covers: ['state.running'],
    async check(service) {
      const { requestId, client } = await start(service, version, 'reliable');
      for (const retryFailed of [false, true]) {
        const again = await restart(service, version, requestId, { retryFailed });
        await again.expect('request_status', { state: 'running', retryable: false });
        await claimClosed(again, 1000);
      }
      client.send({ event: 'ping' });
      await client.expect('pong');
    },
  };
}

function conflict(version: Version): Behaviour {
  return {
    id: `realtime.${version}.replay.conflict`,
    section: SECTION,
    on: liveOf(version),
    what: 'Another request under the id is `idempotency_conflict`',
    covers: [`${version}.error.idempotency_conflict`],
    async check(service) {
      const { requestId } = await start(service, version, 'reliable');
      const again = await restart(service, version, requestId, {}, { speed: 1.5 });
      await claimError(again, 'idempotency_conflict', { isTerminal: true });
      await claimClosed(again, 1008);
    },
  };
}

function rerun(version: Version): Behaviour {
  return {
    id: `realtime.${version}.rerun`,
    section: SECTION,
    on: liveOf(version),
    what: 'A broken request is `failed_retryable`; with `retry_failed` it resumes, and each segment is charged once',
    covers: ['state.failed_retryable'],
    spends: true,
    async check(service) {
      const before = await creditsOf(service);
      const { requestId } = await broken(service, version);
      await claimState(service, version, requestId, 'failed_retryable');
      const again = await restart(service, version, requestId, { retryFailed: true });
      await again.expect('ready', { requestId });
      speak(again, 2, 'And ten more.');
      again.send({ event: 'stop' });
      const messages = await again.until('finish');
      assert.equal(messages.at(-1)?.['reason'], 'completed');
      await claimState(service, version, requestId, 'completed');
      assert.equal(before - (await creditsOf(service)), 5 + 7);
    },
  };
}

function repeated(version: Version): Behaviour {
  return {
    id: `realtime.${version}.rerun.repeated`,
    section: SECTION,
    on: liveOf(version),
    what: 'A segment that was completed and is sent again exactly is accepted and completed, without audio or charge (ours)',
    spends: true,
    async check(service) {
      const { requestId, audioBytes } = await broken(service, version);
      const before = await creditsOf(service);
      const again = await restart(service, version, requestId, { retryFailed: true });
      await again.expect('ready');
      speak(again, 1, TEXT);
      await again.expect('input_ack');
      await again.expect('segment_accepted', { reservedUnits: 0 });
      await again.expect('segment_completed', { audioBytes });
      assert.equal(again.audio.length, 0);
      assert.equal(await creditsOf(service), before);
    },
  };
}

function changed(version: Version): Behaviour {
  return {
    id: `realtime.${version}.rerun.changed`,
    section: SECTION,
    on: liveOf(version),
    what: 'A retried segment with another text, or another number, is `idempotency_conflict`; the session continues',
    spends: true,
    async check(service) {
      const { requestId } = await broken(service, version);
      const again = await restart(service, version, requestId, { retryFailed: true });
      await again.expect('ready');
      speak(again, 1, 'Ten shars.');
      await again.expect('input_ack');
      await claimError(again, 'idempotency_conflict', { isTerminal: false });
      again.socket.close(1000);
      await again.ended();
      await claimState(service, version, requestId, 'failed_retryable');
    },
  };
}

function speak(client: RawRealtimeClient, number: number, text: string): void {
  client.send({ event: 'text', sequence: number, text });
  client.send({ event: 'flush', segmentId: `s${number}` });
}

/** A request of one segment that was spoken, whose connection then broke. */
async function broken(service: ServiceUnderTest, version: Version) {
  const { client, requestId } = await start(service, version, 'reliable');
  speak(client, 1, TEXT);
  await client.until('segment_completed');
  client.socket.terminate();
  await client.ended();
  return { requestId, audioBytes: client.audio.length };
}

async function restart(
  service: ServiceUnderTest,
  version: Version,
  requestId: string,
  more: Fields = {},
  request: Fields = {},
): Promise<RawRealtimeClient> {
  const client = await service.connect(version);
  await client.expect('authenticated');
  const whole = await requestFor(service, version, request);
  client.send({ event: 'start', mode: 'reliable', requestId, request: whole, ...more });
  return client;
}

/** The service may notice a broken line a moment later than the test. */
async function claimState(
  service: ServiceUnderTest,
  version: Version,
  requestId: string,
  wanted: string,
): Promise<void> {
  for (;;) {
    const body = (await service.ask(`GET /${version}/tts/requests/${requestId}`)).json();
    assert.ok(isFields(body));
    const { state } = fromWire(version, body);
    if (state === wanted) return;
    assert.equal(state, 'running');
  }
}
