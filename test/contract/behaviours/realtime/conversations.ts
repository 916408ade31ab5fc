import assert from 'node:assert/strict';
import type { Version } from '../../../realtime/messages.ts';
import type { RawRealtimeClient } from '../../../realtime/raw-client.ts';
import type { Message } from '../../../realtime/wire-names.ts';
import type { Behaviour } from '../../behaviour.ts';
import { creditsOf } from '../../facts.ts';
import { claimClosed, liveOf, requestFor, start, VERSIONS } from '../../live.ts';
import type { ServiceUnderTest } from '../../service-under-test.ts';

const SECTION = 'realtime';

/** Whole conversations: every message is held against the tables of test/realtime as it comes. */
export const realtimeConversations: readonly Behaviour[] = VERSIONS.flatMap((version) => [
  simple(version),
  parts(version),
  ownId(version),
  reliable(version),
  ahead(version),
  price(version),
  ...formats(version),
]);

function simple(version: Version): Behaviour {
  return {
    id: `realtime.${version}.simple`,
    section: SECTION,
    on: liveOf(version),
    what: 'Simple: `authenticated`, `start`, `ready`, `input`, `audio`, `finish` with `completed`, and the close',
    covers: [
      ...['start', 'input'].map((event) => `${version}.client.${event}`),
      ...['authenticated', 'ready', 'audio', 'usage', 'finish'].map(
        (event) => `${version}.server.${event}`,
      ),
      'finish.completed',
    ],
    spends: true,
    async check(service) {
      const { client, requestId } = await start(service, version, 'simple');
      client.send({ event: 'input', text: 'Hello there.' });
      const messages = await client.until('finish');
      claimIncreasing(messages);
      claimFields(messages.at(-1), { requestId, reason: 'completed', units: 12 });
      await claimClosed(client, 1000);
      assert.ok((await service.listen(client.audio)) > 300);
    },
  };
}

function parts(version: Version): Behaviour {
  return {
    id: `realtime.${version}.simple.parts`,
    section: SECTION,
    on: liveOf(version),
    what: 'Simple: several `input` with `commit: false` are one; the last one commits and finishes',
    spends: true,
    async check(service) {
      const { client } = await start(service, version, 'simple');
      client.send({ event: 'input', text: 'Hel', commit: false });
      client.send({ event: 'input', text: 'lo ', commit: false });
      client.send({ event: 'input', text: 'there.', commit: true });
      claimFields((await client.until('finish')).at(-1), { reason: 'completed', units: 12 });
    },
  };
}

function ownId(version: Version): Behaviour {
  return {
    id: `realtime.${version}.simple.id`,
    section: SECTION,
    on: liveOf(version),
    what: 'Simple: without a request id the service makes one, and the mode is simple without one',
    async check(service) {
      const client = await service.connect(version);
      await client.expect('authenticated');
      client.send({ event: 'start', request: await requestFor(service, version) });
      const { requestId } = await client.expect('ready');
      assert.match(String(requestId), /.+/);
    },
  };
}

function reliable(version: Version): Behaviour {
  const events = [
    'ready',
    'input_ack',
    'segment_accepted',
    'audio',
    'usage',
    'segment_completed',
    'finish',
  ];
  return {
    id: `realtime.${version}.reliable`,
    section: SECTION,
    on: liveOf(version),
    what: 'Reliable: `text`, `input_ack`, `flush`, `segment_accepted`, `audio`, `usage`, `segment_completed`, `stop`, `finish`',
    covers: [
      ...['start', 'text', 'flush', 'stop'].map((event) => `${version}.client.${event}`),
      ...events.map((event) => `${version}.server.${event}`),
    ],
    spends: true,
    async check(service) {
      const { client, requestId } = await start(service, version, 'reliable');
      const text = client.send({ event: 'text', sequence: 1, text: 'Hello ' });
      await client.expect('input_ack', { requestId, inReplyTo: text.eventId });
      client.send({ event: 'text', sequence: 2, text: 'there.' });
      await client.expect('input_ack');
      const flush = client.send({ event: 'flush', segmentId: 's1' });
      const whose = { requestId, segmentId: 's1' };
      await client.expect('segment_accepted', { ...whose, inReplyTo: flush.eventId });
      const spoken = await client.until('segment_completed');
      claimIncreasing(spoken);
      claimSegment(spoken, client);
      const stop = client.send({ event: 'stop' });
      await client.expect('finish', { reason: 'completed', units: 12, inReplyTo: stop.eventId });
      await claimClosed(client, 1000);
    },
  };
}

function claimSegment(spoken: readonly Message[], client: RawRealtimeClient): void {
  const names = spoken.map(({ event }) => event).filter((event) => event !== 'audio');
  assert.deepEqual(names, ['usage', 'segment_completed']);
  for (const message of spoken) assert.equal(message['segmentId'], 's1');
  const usage = spoken.find(({ event }) => event === 'usage');
  const audioBytes = client.audio.length;
  claimFields(usage, { segmentUnits: 12, sessionUnits: 12, audioBytes });
}

function ahead(version: Version): Behaviour {
  return {
    id: `realtime.${version}.reliable.ahead`,
    section: SECTION,
    on: liveOf(version),
    what: 'Reliable: segments may be flushed ahead, are spoken in their order, and `stop` waits for all; audio numbers increase over them',
    spends: true,
    async check(service) {
      const { client } = await start(service, version, 'reliable', { format: 'wav' });
      const texts = ['One. ', 'Two. ', 'Three.'];
      for (const [index, text] of texts.entries()) {
        client.send({ event: 'text', sequence: index + 1, text });
        client.send({ event: 'flush', segmentId: `s${index + 1}` });
      }
      client.send({ event: 'stop' });
      const messages = await client.until('finish');
      const done = messages.filter(({ event }) => event === 'segment_completed');
      assert.deepEqual(
        done.map(({ segmentId }) => segmentId),
        ['s1', 's2', 's3'],
      );
      claimIncreasing(messages);
      claimFields(messages.at(-1), { reason: 'completed', units: texts.join('').length });
      assert.ok((await service.listen(client.audio)) > 500);
    },
  };
}

function price(version: Version): Behaviour {
  return {
    id: `realtime.${version}.price`,
    section: 'realtime',
    on: liveOf(version),
    what: 'A segment costs what its characters do, once it is heard, as `creditsUsed` of v3 says; what was only accepted is given back',
    spends: true,
    async check(service) {
      const before = await creditsOf(service);
      const { client } = await start(service, version, 'reliable');
      client.send({ event: 'text', sequence: 1, text: 'Ten chars.' });
      client.send({ event: 'flush', segmentId: 's1' });
      const spoken = await client.until('segment_completed');
      const usage = spoken.find(({ event }) => event === 'usage');
      assert.equal(usage?.['creditsUsed'], version === 'v3' ? 5 : undefined);
      client.send({ event: 'text', sequence: 2, text: ' Never flushed, never spoken.' });
      await client.expect('input_ack');
      client.socket.close(1000);
      await client.ended();
      assert.equal(before - (await creditsOf(service)), 5);
    },
  };
}

function formats(version: Version): readonly Behaviour[] {
  const marks = { mp3: /^(ID3|\xff)/, wav: /^RIFF/, opus: /^OggS/ } as const;
  return [
    ...Object.entries(marks).map(([format, mark]): Behaviour => ({
      id: `realtime.${version}.format.${format}`,
      section: SECTION,
      on: liveOf(version),
      what: `\`format\` ${format}: the frames joined are one file that plays`,
      spends: true,
      async check(service) {
        const { audio } = await speak(service, version, format);
        assert.match(audio.subarray(0, 4).toString('latin1'), mark);
        assert.ok((await service.listen(audio)) > 300);
      },
    })),
    {
      id: `realtime.${version}.format.pcm`,
      section: 'realtime',
      on: liveOf(version),
      what: '`format` pcm: `ready` and each `audio` carry the rate, the channels and the depth',
      spends: true,
      async check(service) {
        const { client, ready } = await start(service, version, 'simple', { format: 'pcm' });
        const samples = { sampleRate: 24_000, channels: 1, bitDepth: 16 };
        claimFields(ready, { format: 'pcm', ...samples });
        client.send({ event: 'input', text: 'Hello there.' });
        const messages = await client.until('finish');
        for (const message of messages.filter(({ event }) => event === 'audio')) {
          claimFields(message, { format: 'pcm', ...samples });
        }
        assert.ok(client.audio.length > 24_000);
      },
    },
  ];
}

async function speak(
  service: ServiceUnderTest,
  version: Version,
  format: string,
): Promise<RawRealtimeClient> {
  const { client } = await start(service, version, 'simple', { format });
  client.send({ event: 'input', text: 'Hello there.' });
  await client.until('finish');
  return client;
}

/** Audio is numbered so that its order can be seen, and none is empty. */
function claimIncreasing(messages: readonly Message[]): void {
  const audio = messages.filter(({ event }) => event === 'audio');
  assert.ok(audio.length > 0, 'there is no audio');
  const numbers = audio.map(({ sequence }) => Number(sequence));
  assert.deepEqual(
    numbers,
    numbers.map((_number, index) => (numbers[0] ?? 0) + index),
  );
}

function claimFields(message: Message | undefined, fields: Readonly<Record<string, unknown>>) {
  const given = Object.fromEntries(Object.keys(fields).map((name) => [name, message?.[name]]));
  assert.deepEqual(given, fields);
}
