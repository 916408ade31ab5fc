import assert from 'node:assert/strict';
import type { Version } from '../../../realtime/messages.ts';
import type { RawRealtimeClient } from '../../../realtime/raw-client.ts';
import type { Behaviour } from '../../behaviour.ts';
import { pairOf, freshKey } from '../../facts.ts';
import { claimClosed, claimError, liveOf, requestFor, start, VERSIONS } from '../../live.ts';
import type { ServiceUnderTest } from '../../service-under-test.ts';

const SECTION = 'realtime#errors';

/** The codes of `error` events, each brought about, with what comes after it. */
export const realtimeErrors: readonly Behaviour[] = VERSIONS.flatMap((version) => [
  ...frames(version),
  ...states(version),
  ...limits(version),
  ...capability(version),
]);

function row(
  version: Version,
  code: string,
  what: string,
  check: Behaviour['check'],
  more: Partial<Behaviour> = {},
): Behaviour {
  const id = `realtime.${version}.error.${code}.${what.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
  const { covers = [], ...others } = more;
  return {
    id,
    section: SECTION,
    on: liveOf(version),
    what: `${what}: \`${code}\``,
    covers: [`${version}.error.${code}`, ...covers],
    check,
    ...others,
  };
}

function frames(version: Version): readonly Behaviour[] {
  const ended =
    (
      wrong: (client: RawRealtimeClient) => unknown,
      code: string,
      closeCode: number,
    ): Behaviour['check'] =>
    async (service) => {
      const client = await service.connect(version);
      await client.expect('authenticated');
      await wrong(client);
      await claimError(client, code, { isTerminal: true });
      await claimClosed(client, closeCode);
    };
  const unreadable: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ['Garbage', Buffer.from('c1c1c1', 'hex')],
    ['A list', Buffer.from('93010203', 'hex')],
    ['A map that claims four billion entries', Buffer.from('dfffffffff', 'hex')],
    ['Two thousand lists in each other', Buffer.from('91'.repeat(2_000), 'hex')],
    ['A frame with nothing in it', Buffer.alloc(0)],
  ];
  return [
    ...unreadable.map(([what, bytes]) =>
      row(
        version,
        'invalid_messagepack',
        what,
        ended((client) => client.socket.send(bytes), 'invalid_messagepack', 1007),
        { covers: ['FRAME_LIMITS'] },
      ),
    ),
    row(version, 'invalid_message', 'A map without an event', async (service) => {
      const { client } = await start(service, version, 'simple');
      client.sendExactly({ a: 1 });
      await goesOn(client, 'invalid_message');
    }),
    row(
      version,
      'invalid_message',
      'A text frame, terminal',
      ended((client) => client.socket.send('{"event":"ping"}'), 'invalid_message', 1003),
    ),
    {
      id: `realtime.${version}.frame.giant`,
      section: SECTION,
      on: liveOf(version),
      what: 'A frame of 100 MB is not read: close code 1009 (ours)',
      async check(service) {
        const client = await service.connect(version);
        await client.expect('authenticated');
        await client.sendGiant(100 * 1024 * 1024);
        claimCode(await client.ended(), 1009);
      },
    },
    {
      id: `realtime.${version}.frame.fragments`,
      section: SECTION,
      on: liveOf(version),
      what: '20,000 fragments with nothing in them are not gathered: close code 1008 (ours)',
      async check(service) {
        const client = await service.connect(version);
        await client.expect('authenticated');
        await client.sendEmptyFragments(20_000);
        claimCode(await client.ended(), 1008);
      },
    },
    {
      id: `realtime.${version}.frame.fragmented`,
      section: SECTION,
      on: liveOf(version),
      what: 'A message in fragments is a message',
      async check(service) {
        const client = await service.connect(version);
        await client.expect('authenticated');
        await client.sendFragmented({ event: 'ping', timestamp: 1 }, 3);
        await client.expect('pong');
      },
    },
  ];
}

/** A reset may overtake the goodbye when the service does not read what it refuses. */
function claimCode(ending: { readonly kind: string; readonly code?: number }, code: number): void {
  if (ending.kind === 'closed') assert.equal(ending.code, code);
}

/** The error can be corrected: the connection answers. */
async function goesOn(client: RawRealtimeClient, code: string): Promise<void> {
  await claimError(client, code, { isTerminal: false });
  client.send({ event: 'ping' });
  await client.expect('pong');
}

function states(version: Version): readonly Behaviour[] {
  return [
    row(version, 'invalid_state', 'Text before `start`', async (service) => {
      const client = await service.connect(version);
      await client.expect('authenticated');
      client.send({ event: 'input', text: 'Hello.' });
      await goesOn(client, 'invalid_state');
    }),
    row(version, 'invalid_state', 'A second `start`', async (service) => {
      const { client } = await start(service, version, 'simple');
      client.send({ event: 'start', request: await requestFor(service, version) });
      await goesOn(client, 'invalid_state');
    }),
    row(version, 'invalid_state', '`flush` in simple mode', async (service) => {
      const { client } = await start(service, version, 'simple');
      client.send({ event: 'flush', segmentId: 's1' });
      await goesOn(client, 'invalid_state');
    }),
    row(version, 'invalid_state', '`input` in reliable mode', async (service) => {
      const { client } = await start(service, version, 'reliable');
      client.send({ event: 'input', text: 'Hello.' });
      await goesOn(client, 'invalid_state');
    }),
    row(version, 'invalid_state', 'A sequence that is not the next', async (service) => {
      const { client } = await start(service, version, 'reliable');
      client.send({ event: 'text', sequence: 2, text: 'Hello.' });
      await goesOn(client, 'invalid_state');
    }),
    row(version, 'invalid_state', '`stop` while text waits (ours)', async (service) => {
      const { client } = await start(service, version, 'reliable');
      client.send({ event: 'text', sequence: 1, text: 'Hello.' });
      await client.expect('input_ack');
      client.send({ event: 'stop' });
      await goesOn(client, 'invalid_state');
    }),
    row(version, 'empty_segment', '`flush` without text', async (service) => {
      const { client } = await start(service, version, 'reliable');
      client.send({ event: 'flush', segmentId: 's1' });
      await goesOn(client, 'empty_segment');
    }),
    row(version, 'empty_segment', 'A simple input without a word (ours)', async (service) => {
      const { client } = await start(service, version, 'simple');
      client.send({ event: 'input', text: ' … ' });
      await goesOn(client, 'empty_segment');
      client.send({ event: 'input', text: 'Hello.' });
      await client.until('finish');
    }),
    row(
      version,
      'idempotency_conflict',
      'A segment id for another text; what was accepted is spoken',
      async (service) => {
        const { client } = await start(service, version, 'reliable');
        for (const [index, text] of ['One.', 'Two.'].entries()) {
          client.send({ event: 'text', sequence: index + 1, text });
          client.send({ event: 'flush', segmentId: 'same' });
        }
        const messages = await client.until('error');
        assert.equal(messages.at(-1)?.['code'], 'idempotency_conflict');
        client.send({ event: 'flush', segmentId: 'other' });
        client.send({ event: 'stop' });
        assert.equal((await client.until('finish')).at(-1)?.['units'], 8);
      },
    ),
  ];
}

function limits(version: Version): readonly Behaviour[] {
  return [
    row(
      version,
      'segment_too_large',
      'A segment of more than 10,000 characters',
      async (service) => {
        const { client } = await start(service, version, 'reliable');
        for (let sequence = 1; sequence <= 5; sequence += 1) {
          client.send({ event: 'text', sequence, text: 'a'.repeat(2_000) });
          await client.expect('input_ack', { bufferedCharacters: sequence * 2_000 });
        }
        client.send({ event: 'text', sequence: 6, text: 'a' });
        await claimError(client, 'segment_too_large', { isTerminal: false, path: 'text' });
      },
      { section: 'limits', covers: ['SEGMENT_MAX_CHARACTERS'] },
    ),
    row(
      version,
      'segment_too_large',
      'A simple input of more than 10,000 characters (ours)',
      async (service) => {
        const { client } = await start(service, version, 'simple');
        client.send({ event: 'input', text: 'é'.repeat(10_000), commit: false });
        client.send({ event: 'input', text: 'é', commit: false });
        await claimError(client, 'segment_too_large', { isTerminal: false, path: 'text' });
      },
      { section: 'limits', covers: ['SIMPLE_INPUT_MAX_CHARACTERS'] },
    ),
    row(
      version,
      'quota_exceeded',
      'Credits that do not suffice, terminal',
      async (service) => {
        const { client } = await start(service, version, 'reliable');
        client.send({ event: 'text', sequence: 1, text: 'Much too long for three credits.' });
        await client.expect('input_ack');
        client.send({ event: 'flush', segmentId: 's1' });
        await claimError(client, 'quota_exceeded', { isTerminal: true });
        await claimClosed(client, 1008);
      },
      { serve: ['--credits', '3'] },
    ),
  ];
}

function capability(version: Version): readonly Behaviour[] {
  const refusedStart = async (
    service: ServiceUnderTest,
    request: Readonly<Record<string, unknown>>,
  ): Promise<RawRealtimeClient> => {
    const client = await service.connect(version);
    await client.expect('authenticated');
    const whole = await requestFor(service, version, request);
    client.send({ event: 'start', requestId: freshKey(), request: whole });
    return client;
  };
  return [
    row(version, 'voice_not_found', 'A voice that there is not', async (service) => {
      const client = await refusedStart(service, { voiceId: 'nobody' });
      await claimError(client, 'voice_not_found', { isTerminal: false });
    }),
    row(version, 'model_not_found', 'A model that there is not', async (service) => {
      const client = await refusedStart(service, { modelId: 'nothing' });
      await claimError(client, 'model_not_found', { isTerminal: false });
    }),
    row(version, 'model_not_found', 'A model of another family than the voice', async (service) => {
      const { modelId } = await pairOf(service, ({ id }) => id.startsWith('altA'));
      const client = await refusedStart(service, { modelId });
      await claimError(client, 'model_not_found', { isTerminal: false });
    }),
    row(
      version,
      'provider_unavailable',
      'A model that is switched off, retryable and terminal',
      async (service) => {
        const client = await refusedStart(service, { modelId: 'vendor-s1' });
        const error = await claimError(client, 'provider_unavailable', { isTerminal: true });
        assert.equal(error['retryable'], true);
        await claimClosed(client, 1013);
      },
      { serve: ['--unavailable', 'vendor-s1'] },
    ),
    row(
      version,
      'unsupported_parameter',
      'A format that the model does not make',
      async (service) => {
        const { voiceId, modelId } = await pairOf(service, ({ id }) => id === 'altD-tts-2.0');
        const client = await refusedStart(service, { voiceId, modelId, format: 'wav' });
        await claimError(client, 'unsupported_parameter', { isTerminal: false });
      },
    ),
  ];
}
