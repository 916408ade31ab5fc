import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { claimAudio, claimRefused, claimType } from '../claims.ts';
import { pairOf, plainBody, TEXT, voicesOf } from '../facts.ts';
import type { Answer, ServiceUnderTest } from '../service-under-test.ts';
import { mismatch } from './speech-bodies.ts';

interface Surface {
  readonly id: string;
  readonly section: string;
  readonly on: string;
}

const V3: Surface = { id: 'tts-v3', section: 'speech#v3', on: 'POST /api/open/v3/speech/tts' };
const V2: Surface = { id: 'tts-v2', section: 'speech#v2', on: 'POST /api/open/v2/speech/tts' };
const V1: Surface = { id: 'tts-v1', section: 'speech#v1', on: 'POST /api/open/v1/speech/tts' };

const JOBS_V3: Surface = {
  id: 'jobs-v3',
  section: 'jobs#v3',
  on: 'POST /api/open/v3/speech/tts/jobs',
};
const JOBS_V1: Surface = {
  id: 'jobs-v1',
  section: 'jobs#v1',
  on: 'POST /api/open/v1/speech/tts/jobs',
};

const TYPES: Readonly<Record<string, RegExp>> = {
  mp3: /^audio\/mpeg/,
  wav: /^audio\/(x-)?wav/,
  ogg: /^audio\/ogg/,
};

/** How speech is answered, and how it is refused, at once and as a job (docs/api/README.md). */
export const speech: readonly Behaviour[] = [
  ...[V3, V2, V1].flatMap((surface) => [
    ...answers(surface),
    ...Object.keys(TYPES).map((format) => inFormat(surface, format)),
  ]),
  ...[V3, V2, V1, JOBS_V3, JOBS_V1].flatMap((surface) => refusals(surface)),
];

function answers({ id, section, on }: Surface): readonly Behaviour[] {
  return [
    {
      id: `${id}.audio`,
      section,
      on,
      what: '200 with audio that plays; mp3 where no format is asked for, with the default model where none is named',
      spends: true,
      async check(service) {
        const { modelId: _, ...body } = await plainBody(service);
        const answer = await service.ask(on, { body });
        claimAudio(answer, /^audio\/mpeg/);
        assert.ok((await service.listen(answer.bytes)) > 200);
      },
    },
    {
      id: `${id}.headers`,
      section,
      on,
      what: 'The response has the credits used and the remaining quota',
      covers: ['X-OpenAPI-Credits-Used', 'X-OpenAPI-Quota-Remaining'],
      spends: true,
      async check(service) {
        const answer = await service.ask(on, { body: await plainBody(service) });
        claimType(Number(answer.header('X-OpenAPI-Quota-Remaining') ?? 'none'), 'integer', 'quota');
        claimType(Number(answer.header('X-OpenAPI-Credits-Used') ?? 'none'), 'number', 'credits');
      },
    },
    {
      id: `${id}.request-id`,
      section,
      on,
      what: '`X-Request-Id` is echoed, and made where it is not sent, also with an error',
      covers: ['X-Request-Id'],
      async check(service) {
        const headers = { 'X-Request-Id': `trace-${crypto.randomUUID()}` };
        const echoed = await service.ask(on, { headers, body: {} });
        assert.equal(echoed.header('X-Request-Id'), headers['X-Request-Id']);
        const made = await service.ask(on, { body: {} });
        claimType(made.header('X-Request-Id'), 'id', 'X-Request-Id');
      },
    },
  ];
}

function inFormat({ id, section, on }: Surface, format: string): Behaviour {
  return {
    id: `${id}.format.${format}`,
    section,
    on,
    what: `\`format: ${format}\` gives audio of that type that plays`,
    spends: true,
    async check(service) {
      const { voiceId, modelId } = await pairOf(service, ({ outputFormats }) =>
        outputFormats.includes(format),
      );
      const answer = await service.ask(on, { body: { text: TEXT, voiceId, modelId, format } });
      claimAudio(answer, TYPES[format]);
      assert.ok((await service.listen(answer.bytes)) > 200);
    },
  };
}

function refusals({ id, section, on }: Surface): readonly Behaviour[] {
  const row = (
    name: string,
    [status, code]: readonly [number, string],
    what: string,
    ask: (service: ServiceUnderTest) => Promise<Answer>,
  ): Behaviour => ({
    id: `${id}.${name}`,
    section: name.startsWith('model') || name.startsWith('format') ? section : 'errors',
    on,
    what: `${status}: ${what}`,
    covers: [code],
    check: async (service) => claimRefused(await ask(service), status, code, service),
  });
  const invalid = [400, 'ERR_INVALID_REQUEST'] as const;
  return [
    ...['{"text":', '', 'text=hello', '[]', '"text"', 'null'].map((bytes, index) =>
      row(`broken.${index + 1}`, invalid, `a body that is \`${bytes}\``, (service) =>
        service.ask(on, { bytes }),
      ),
    ),
    row('not-utf-8', invalid, 'a body whose bytes are not UTF-8', (service) =>
      service.ask(on, { bytes: Buffer.from('{"text":"\xff"}', 'latin1') }),
    ),
    row(
      'voice-unknown',
      [404, 'ERR_VOICE_NOT_FOUND'],
      'a voice that there is not',
      async (service) =>
        service.ask(on, { body: { ...(await plainBody(service)), voiceId: 'nobody' } }),
    ),
    row(
      'model-of-another-family',
      invalid,
      'a model that the voice does not list',
      async (service) => service.ask(on, { body: await mismatch(service) }),
    ),
    row(
      'format-not-made',
      invalid,
      'a format that is not in the model’s `outputFormats`',
      async (service) => service.ask(on, { body: await withoutFormat(service) }),
    ),
    row('model-text-length', invalid, 'a text above the model’s `maxTextLength`', async (service) =>
      service.ask(on, { body: await tooLongForModel(service) }),
    ),
    row('too-large', [413, 'ERR_PAYLOAD_TOO_LARGE'], 'a body above the limit', (service) =>
      service.ask(on, { bytes: JSON.stringify({ text: 'a'.repeat(2_000_000) }) }),
    ),
    {
      ...row(
        'credits-short',
        [402, 'ERR_INSUFFICIENT_CREDITS'],
        'credits are short; nothing is charged',
        async (service) =>
          service.ask(on, { body: { ...(await plainBody(service)), text: 'a word '.repeat(20) } }),
      ),
      serve: ['--credits', '10'],
    },
    {
      ...row(
        'model-unavailable',
        [503, 'ERR_MODEL_UNAVAILABLE'],
        'the model is not available',
        async (service) => service.ask(on, { body: await unavailable(service) }),
      ),
      serve: ['--unavailable', 'vendor-s1'],
    },
    {
      ...row(
        'rate-limited',
        [429, 'ERR_RATE_LIMITED'],
        'too many requests; `Retry-After` says when',
        async (service) => {
          for (;;) {
            const answer = await service.ask(on, { body: {} });
            if (answer.status === 400) continue;
            assert.match(answer.header('Retry-After') ?? '', /^\d+$/);
            return answer;
          }
        },
      ),
      serve: ['--rate-limit', '0.1/s'],
    },
  ];
}

async function withoutFormat(service: ServiceUnderTest): Promise<Record<string, unknown>> {
  const formats = ['mp3', 'wav', 'ogg'];
  const lacks = ({ outputFormats }: { readonly outputFormats: readonly string[] }) =>
    formats.find((format) => !outputFormats.includes(format));
  const { voiceId, modelId, model } = await pairOf(service, (one) => lacks(one) !== undefined);
  return { text: TEXT, voiceId, modelId, format: lacks(model) };
}

async function tooLongForModel(service: ServiceUnderTest): Promise<Record<string, unknown>> {
  const { voiceId, modelId, model } = await pairOf(service, (one) => one.maxTextLength < 10_000);
  return { text: 'a'.repeat(model.maxTextLength + 1), voiceId, modelId };
}

async function unavailable(service: ServiceUnderTest): Promise<Record<string, unknown>> {
  const voice = (await voicesOf(service)).find(({ modelIds }) => modelIds.includes('vendor-s2pro'));
  return { text: TEXT, voiceId: voice?.voiceId, modelId: 'vendor-s1' };
}
