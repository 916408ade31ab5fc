import assert from 'node:assert/strict';
import type { Version } from '../../../realtime/messages.ts';
import { isFields } from '../../../realtime/wire-names.ts';
import type { Fields, Message } from '../../../realtime/wire-names.ts';
import type { Behaviour } from '../../behaviour.ts';
import { pairOf } from '../../facts.ts';
import { claimError, liveOf, start, VERSIONS } from '../../live.ts';
import type { ServiceUnderTest } from '../../service-under-test.ts';

const SECTION = 'realtime';

/** What becomes of the fields of `start.request`: strict, clamped, or left out with a warning. */
export const realtimeParameters: readonly Behaviour[] = [
  ...VERSIONS.flatMap((version) => [effective(version), unknown(version), language(version)]),
  clamped(),
  ignored(),
  ...legacy(),
];

function effective(version: Version): Behaviour {
  return {
    id: `realtime.${version}.effective-request`,
    section: SECTION,
    on: liveOf(version),
    what: '`ready` lists the parameters in use; without a warning when all are used',
    async check(service) {
      const request = { speed: 1.2, volume: -3, chunkLength: 200 };
      const { ready, client } = await start(service, version, 'simple', request);
      const used = effectiveOf(ready);
      for (const [name, value] of Object.entries(request)) assert.equal(used[name], value, name);
      assert.deepEqual(ready['warnings'] ?? [], []);
      client.send({ event: 'ping' });
      await client.expect('pong');
    },
  };
}

function unknown(version: Version): Behaviour {
  return {
    id: `realtime.${version}.unknown-parameter`,
    section: SECTION,
    on: liveOf(version),
    what: 'A field that is not known, or that the model does not follow, is left out with a warning; `effectiveRequest` has the default that is used',
    async check(service) {
      const given = { singsWell: true, latency: 'low', textNormalization: false };
      const { ready, client } = await start(service, version, 'simple', given);
      const used = effectiveOf(ready);
      const shown = Object.keys(given).filter((name) => Object.hasOwn(used, name));
      assert.deepEqual(shown, ['textNormalization']);
      assert.equal(used['textNormalization'], false);
      const warnings = await warningsOf(version, ready, client.next.bind(client), 2);
      assert.deepEqual(warnings.map(({ code }) => code).sort(), [
        'unknown_parameter',
        'unsupported_parameter',
      ]);
    },
  };
}

function language(version: Version): Behaviour {
  return {
    id: `realtime.${version}.language`,
    section: 'limits',
    on: liveOf(version),
    what: '`language` has at most 32 characters: `invalid_message` for more',
    covers: ['REALTIME_LANGUAGE_MAX_CHARACTERS'],
    async check(service) {
      await start(service, version, 'simple', { language: 'en' });
      const client = await refusedStart(service, version, { language: 'e'.repeat(33) });
      const path = 'request.language';
      await claimError(client, 'invalid_message', { isTerminal: false, path });
    },
  };
}

function clamped(): Behaviour {
  return {
    id: 'realtime.v2.product.clamps',
    section: SECTION,
    on: liveOf('v2'),
    what: '`product_v1` takes the nearest value for one out of range, and says so in `effective_request`',
    covers: ['CHUNK_LENGTH_RANGE'],
    async check(service) {
      const given = { speed: 7, volume: -100, chunkLength: 5_000 };
      const { ready, client } = await start(service, 'v2', 'simple', given);
      const { speed, volume, chunkLength } = effectiveOf(ready);
      assert.deepEqual([speed, volume, chunkLength], [2, -20, 1_000]);
      const warnings = await warningsOf('v2', ready, client.next.bind(client), 3);
      assert.deepEqual(
        warnings.map(({ code }) => code),
        ['clamped', 'clamped', 'clamped'],
      );
    },
  };
}

function ignored(): Behaviour {
  return {
    id: 'realtime.v3.out-of-range',
    section: SECTION,
    on: liveOf('v3'),
    what: 'v3 leaves a value out of range out, with a warning that names it (ours: out, not clamped)',
    async check(service) {
      const given = { speed: 7, chunkLength: 49 };
      const { ready } = await start(service, 'v3', 'simple', given);
      const used = effectiveOf(ready);
      assert.deepEqual([used['speed'], used['chunkLength']], [1, undefined]);
      const warnings = Array.isArray(ready['warnings']) ? ready['warnings'] : [];
      assert.deepEqual(
        warnings.map((one) => [Object(one).code, Object(one).path]),
        [
          ['out_of_range', 'request.speed'],
          ['out_of_range', 'request.chunkLength'],
        ],
      );
    },
  };
}

function legacy(): readonly Behaviour[] {
  const refusals: readonly (readonly [
    what: string,
    request: Fields,
    code: string,
    path: string,
  ])[] = [
    ['an unknown field', { singsWell: true }, 'unsupported_parameter', 'request.sings_well'],
    ['a field of product_v1', { pitch: 1 }, 'unsupported_parameter', 'request.pitch'],
    [
      '`text_normalization`',
      { textNormalization: true },
      'unsupported_parameter',
      'request.text_normalization',
    ],
    [
      '`optimize_instructions`, which no model lists',
      { optimizeInstructions: true },
      'unsupported_parameter',
      'request.optimize_instructions',
    ],
    [
      '`emotion`, where the model does not list it',
      { emotion: 'happy' },
      'unsupported_parameter',
      'request.emotion',
    ],
    ['a stability of 0.49', { stability: 0.49 }, 'invalid_message', 'request.stability'],
    ['a similarity of 1.51', { similarity: 1.51 }, 'invalid_message', 'request.similarity'],
    ['a speed of 3', { speed: 3 }, 'invalid_message', 'request.speed'],
    ['a volume below 0', { volume: -1 }, 'invalid_message', 'request.volume'],
    ['a volume above 10', { volume: 10.5 }, 'invalid_message', 'request.volume'],
    ['a chunk length of 49', { chunkLength: 49 }, 'invalid_message', 'request.chunk_length'],
    [
      'a profile that there is not',
      { parameterProfile: 'best' },
      'invalid_message',
      'request.parameter_profile',
    ],
  ];
  return [
    ...refusals.map(([what, request, code, path]): Behaviour => ({
      id: `realtime.v2.legacy.${what.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
      section: SECTION,
      on: liveOf('v2'),
      what: `The legacy profile refuses ${what}: \`${code}\``,
      covers: [`v2.error.${code}`, 'LEGACY_VOLUME_RANGE', 'CHUNK_LENGTH_RANGE'],
      async check(service) {
        const client = await refusedStart(service, 'v2', request);
        await claimError(client, code, { isTerminal: false, path });
      },
    })),
    {
      id: 'realtime.v2.legacy.takes',
      section: SECTION,
      on: liveOf('v2'),
      what: 'Without a profile the request is legacy: its controls are taken, and `volume` is 0 to 10',
      covers: ['LEGACY_VOLUME_RANGE'],
      spends: true,
      async check(service) {
        const controls = { speed: 1.1, stability: 0.8, similarity: 1, chunkLength: 50 };
        const loud = await legacyAudio(service, { ...controls, volume: 1 });
        const quiet = await legacyAudio(service, { ...controls, volume: 0.1 });
        assert.ok(levelOf(loud) > 3 * levelOf(quiet));
      },
    },
  ];
}

async function refusedStart(service: ServiceUnderTest, version: Version, more: Fields) {
  const client = await service.connect(version);
  await client.expect('authenticated');
  client.send({ event: 'start', request: { ...(await plainPair(service)), ...more } });
  return client;
}

async function plainPair(service: ServiceUnderTest): Promise<Fields> {
  const { voiceId, modelId } = await pairOf(service, ({ id }) => id === 'vendor-s21pro-flash');
  return { voiceId, modelId };
}

async function legacyAudio(service: ServiceUnderTest, more: Fields): Promise<Buffer> {
  const client = await refusedStart(service, 'v2', { ...more, format: 'pcm' });
  await client.expect('ready');
  client.send({ event: 'input', text: 'Hello there.' });
  await client.until('finish');
  return client.audio;
}

/** The mean of the absolute samples. */
function levelOf(pcm: Buffer): number {
  const samples = Array.from({ length: pcm.length / 2 }, (_none, at) => pcm.readInt16LE(2 * at));
  return samples.reduce((sum, sample) => sum + Math.abs(sample), 0) / samples.length;
}

function effectiveOf(ready: Message): Fields {
  const { effectiveRequest } = ready;
  assert.ok(isFields(effectiveRequest));
  return effectiveRequest;
}

/** v3 has them in `ready`, v2 as events behind it. */
async function warningsOf(
  version: Version,
  ready: Message,
  next: (wanted: string) => Promise<Message>,
  count: number,
): Promise<readonly { readonly code: string }[]> {
  if (version === 'v3') {
    const { warnings } = ready;
    return Array.isArray(warnings)
      ? warnings.map((one) => ({ code: String(Object(one).code) }))
      : [];
  }
  const codes: { code: string }[] = [];
  while (codes.length < count) {
    const message = await next('warning');
    assert.equal(message.event, 'warning');
    codes.push({ code: String(message['code']) });
  }
  return codes;
}
