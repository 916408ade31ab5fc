import assert from 'node:assert/strict';
import { answerFields } from '../answer-fields.ts';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimRefused, claimStatus, claimType } from '../claims.ts';
import { isOfFamily, pairOf, plainBody, TEXT, voicesOf } from '../facts.ts';
import type { RequestBody } from '../request-fields.ts';
import { requestFields } from '../request-fields.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';

const V1 = 'POST /api/open/v1/speech/tts';

const TTS: RequestBody = {
  id: 'compat-tts',
  of: 'CompatTtsRequest',
  section: 'other-clients',
  on: 'POST /v1/tts',
  async plain(service) {
    const { voiceId } = await pairOf(service, isOfFamily('vendor'));
    return { text: TEXT, reference_id: voiceId };
  },
  claimTaken: (answer) => claimAudio(answer),
};
const SPEECH: RequestBody = {
  id: 'compat-speech',
  of: 'CompatSpeechRequest',
  section: 'other-clients',
  on: 'POST /v1/audio/speech',
  async plain(service) {
    const { voiceId, modelId } = await pairOf(service, isOfFamily('vendor'));
    return { model: modelId, input: TEXT, voice: voiceId };
  },
  claimTaken: (answer) => claimAudio(answer),
};

const SPEED = { takes: [0.5, 2], refuses: [0.49, 2.01, '1'], limits: ['SPEED_RANGE'] };
const SCALE = { takes: [0.5, 1.5], refuses: [0.49, 1.51, '1'] };

/** The header `model` of `/v1/tts`; the price shows the model where prices are known. */
const LABELS: Readonly<Record<string, string>> = {
  's2.1-pro': 'vendor-s21pro',
  's2.1-pro-free': 'vendor-s21pro-free',
  's2.1-flash': 'vendor-s21-flash',
  's2.1-pro-flash': 'vendor-s21pro-flash',
  's2-pro': 'vendor-s2pro',
  s1: 'vendor-s1',
  's1-mini': 'vendor-s1',
  'speech-1.5': 'vendor-s1',
  '1.6': 'vendor-s1',
  'vendor-s21pro': 'vendor-s21pro',
  'unknown-label': 'vendor-s21pro-flash',
};

/** The compatibility endpoints, and what only v1 has (docs/api/speech.md#v1 and docs/api/other-clients.md). */
export const compat: readonly Behaviour[] = [
  ...requestFields(TTS, [
    { name: 'text', what: 'text', isRequired: true, takes: ['Grüße, 🙂.'], refuses: ['', 7] },
    {
      name: 'reference_id',
      what: 'a voice; no default is chosen',
      isRequired: true,
      refuses: ['', 7],
    },
    {
      name: 'format',
      what: 'mp3, wav or pcm; anything else falls back to mp3',
      takes: ['mp3', 'wav', 'pcm', 'opus', 'flac'],
    },
    { name: 'prosody.speed', what: '0.5 to 2', ...SPEED },
    { name: 'prosody', what: 'an object', takes: [{}], refuses: ['fast'] },
    { name: 'speed', what: '0.5 to 2', ...SPEED },
    { name: 'temperature', what: 'stability, 0.5 to 1.5', ...SCALE },
    { name: 'top_p', what: 'similarity, 0.5 to 1.5', ...SCALE },
    { name: 'normalize', what: 'text normalization', takes: [true, false], refuses: ['true'] },
    { name: 'chunk_length', what: 'accepted and ignored', takes: [200, 'any'] },
    { name: 'latency', what: 'accepted and ignored', takes: ['normal', 1] },
  ]),
  ...requestFields(SPEECH, [
    {
      name: 'model',
      what: 'an engine model id; names of the other interface are no aliases',
      isRequired: true,
      refuses: ['tts-1', 'gpt-4o-mini-tts', '', 7],
    },
    { name: 'input', what: 'text', isRequired: true, takes: ['Grüße, 🙂.'], refuses: ['', 7] },
    {
      name: 'voice',
      what: 'an id, or an object with `id`',
      isRequired: true,
      refuses: ['', 7, {}, { id: 7 }],
    },
    {
      name: 'response_format',
      what: 'mp3, wav or pcm',
      takes: ['mp3', 'wav', 'pcm'],
      refuses: ['opus', 'aac'],
    },
    { name: 'speed', what: '0.5 to 2', ...SPEED },
    { name: 'stream_format', what: 'audio or sse (ours)', takes: ['audio'], refuses: ['mp4', 1] },
  ]),
  ...[TTS, SPEECH].flatMap((body) => both(body)),
  ...labels(),
  ...openAi(),
  voiceObject(),
  opus(),
  ...v1Only(),
];

function both({ id, on, plain }: RequestBody): readonly Behaviour[] {
  return [
    {
      id: `${id}.audio`,
      section: 'other-clients',
      on,
      what: 'Audio that plays, mp3 without a format, with credits used and quota left',
      covers: ['X-OpenAPI-Credits-Used', 'X-OpenAPI-Quota-Remaining'],
      spends: true,
      async check(service) {
        const answer = await service.ask(on, { body: await plain(service) });
        claimAudio(answer, /^audio\/mpeg/);
        assert.ok((await service.listen(answer.bytes)) > 200);
        claimType(Number(answer.header('X-OpenAPI-Quota-Remaining') ?? 'none'), 'integer', 'quota');
        claimType(Number(answer.header('X-OpenAPI-Credits-Used') ?? 'none'), 'number', 'credits');
      },
    },
    {
      id: `${id}.broken`,
      section: 'errors',
      on,
      what: '400: a body that is no JSON',
      covers: ['ERR_INVALID_REQUEST'],
      async check(service) {
        for (const bytes of ['{"text":', '', '[]']) {
          claimRefused(await service.ask(on, { bytes }), 400, 'ERR_INVALID_REQUEST', service);
        }
      },
    },
    {
      id: `${id}.credits-short`,
      section: 'errors',
      on,
      what: '402: credits are short',
      covers: ['ERR_INSUFFICIENT_CREDITS'],
      serve: ['--credits', '10'],
      async check(service) {
        const body = await plain(service);
        const long = 'a word '.repeat(20);
        const answer = await service.ask(on, {
          body: { ...body, ...('input' in body ? { input: long } : { text: long }) },
        });
        claimRefused(answer, 402, 'ERR_INSUFFICIENT_CREDITS', service);
      },
    },
    {
      id: `${id}.rate-limited`,
      section: 'errors',
      on,
      what: '429: too many requests; `Retry-After` says when',
      covers: ['ERR_RATE_LIMITED', 'Retry-After'],
      serve: ['--rate-limit', '0.1/s'],
      async check(service) {
        await service.ask(on, { body: {} });
        const answer = await service.ask(on, { body: {} });
        claimRefused(answer, 429, 'ERR_RATE_LIMITED', service);
        assert.match(answer.header('Retry-After') ?? '', /^\d+$/);
      },
    },
  ];
}

function labels(): readonly Behaviour[] {
  return Object.entries(LABELS).map(([label, modelId]) => ({
    id: `compat-tts.model.${label}`,
    section: 'other-clients',
    on: 'POST /v1/tts',
    what: `The header \`model: ${label}\` ${label === 'unknown-label' ? 'is ignored' : `is ${modelId}`}`,
    spends: true,
    async check(service: ServiceUnderTest) {
      const body = await TTS.plain(service);
      const answer = await service.ask('POST /v1/tts', { headers: { model: label }, body });
      claimAudio(answer);
      const plain = { text: TEXT, voiceId: body['reference_id'], modelId };
      const same = await service.ask('POST /api/open/v3/speech/tts', { body: plain });
      const [mine, its] = [answer, same].map((one) => one.header('X-OpenAPI-Credits-Used'));
      assert.equal(mine, its);
    },
  }));
}

/** What the spec leaves out and clients of the OpenAI interface need. */
function openAi(): readonly Behaviour[] {
  return [
    ...answerFields('CompatModels (ours)', async (service) =>
      (await service.ask('GET /v1/models')).json(),
    ),
    ...answerFields('CompatModel (ours)', async (service) => {
      const models = (await service.ask('GET /v1/models')).json();
      const id = String(at(models, 'data.0.id'));
      return (await service.ask(`GET /v1/models/${id}`)).json();
    }),
    ...answerFields('OpenAiError (ours)', async (service) =>
      (await service.ask(SPEECH.on, { body: { speed: 9 } })).json(),
    ),
    {
      id: 'compat-models.unknown',
      section: 'other-clients',
      on: 'GET /v1/models/{modelId}',
      what: '404: a model that this service does not have (ours)',
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('the spec does not have it');
        claimRefused(await service.ask('GET /v1/models/tts-1'), 404, 'ERR_NOT_FOUND', service);
      },
    },
    {
      id: 'compat-speech.events',
      section: 'other-clients',
      on: SPEECH.on,
      what: '`stream_format: sse` sends the audio as `speech.audio.delta` events, then `speech.audio.done` (ours)',
      covers: [
        'CompatSpeechRequest.stream_format',
        'CompatSpeechDelta.type',
        'CompatSpeechDelta.audio',
        'CompatSpeechDone.type',
        'CompatSpeechDone.usage.input_tokens',
        'CompatSpeechDone.usage.output_tokens',
        'CompatSpeechDone.usage.total_tokens',
      ],
      spends: true,
      async check(service) {
        if (!service.isOurs) throw new NotApplicable('the spec does not have it');
        const body = { ...(await SPEECH.plain(service)), stream_format: 'sse' };
        const answer = await service.ask(SPEECH.on, { body });
        claimStatus(answer, 200);
        const lines = answer.bytes.toString().trim().split('\n\n');
        const events = lines.map((line): unknown => JSON.parse(line.replace(/^data: /, '')));
        const parts = events.flatMap((event) =>
          at(event, 'type') === 'speech.audio.delta'
            ? [Buffer.from(String(at(event, 'audio')), 'base64')]
            : [],
        );
        assert.ok((await service.listen(Buffer.concat(parts))) > 200);
        const done = events.at(-1);
        assert.equal(at(done, 'type'), 'speech.audio.done');
        assert.equal(at(done, 'usage.input_tokens'), TEXT.length);
        assert.equal(at(done, 'usage.output_tokens'), 0);
        assert.equal(at(done, 'usage.total_tokens'), TEXT.length);
      },
    },
  ];
}

function voiceObject(): Behaviour {
  return {
    id: 'compat-speech.voice.takes',
    section: 'other-clients',
    on: SPEECH.on,
    what: '`voice` may be a string or an object with `id`',
    covers: ['CompatSpeechRequest.voice'],
    spends: true,
    async check(service) {
      const { voice, ...rest } = await SPEECH.plain(service);
      for (const form of [voice, { id: voice }]) {
        claimAudio(await service.ask(SPEECH.on, { body: { ...rest, voice: form } }));
      }
    },
  };
}

function opus(): Behaviour {
  return {
    id: 'compat-tts.opus',
    section: 'other-clients',
    on: TTS.on,
    what: '`format: opus` gives mp3, and `pcm` samples',
    spends: true,
    async check(service) {
      const body = await TTS.plain(service);
      claimAudio(await service.ask(TTS.on, { body: { ...body, format: 'opus' } }), /^audio\/mpeg/);
      const pcm = await service.ask(TTS.on, { body: { ...body, format: 'pcm' } });
      claimAudio(pcm, /^audio\/(pcm|l16)/i);
      assert.equal(pcm.bytes.length % 2, 0);
    },
  };
}

function v1Only(): readonly Behaviour[] {
  const cached = async (service: ServiceUnderTest) =>
    service.once('cached speech', async () => {
      const answer = await service.ask(V1, {
        body: { ...(await plainBody(service)), cache: true },
      });
      claimStatus(answer, 200);
      assert.match(answer.header('Content-Type') ?? '', /^application\/json/);
      return answer.json();
    });
  return [
    ...answerFields('CachedSpeech', cached),
    {
      id: 'tts-v1.cache.audio',
      section: 'speech#v1',
      on: V1,
      what: '`audio_url` gives audio that plays',
      covers: ['SpeechRequestV1.cache'],
      spends: true,
      async check(service) {
        const url = new URL(String(at(await cached(service), 'audio_url')));
        const found = await service.ask(`GET ${url.pathname}${url.search}`, {
          headers: { Authorization: undefined },
        });
        claimAudio(found);
        assert.ok((await service.listen(found.bytes)) > 200);
      },
    },
    {
      id: 'tts-v1.cache.false',
      section: 'speech#v1',
      on: V1,
      what: '`cache: false` is answered with audio bytes',
      covers: ['SpeechRequestV1.cache'],
      spends: true,
      async check(service) {
        claimAudio(
          await service.ask(V1, { body: { ...(await plainBody(service)), cache: false } }),
        );
      },
    },
    {
      id: 'compat.voice-unknown',
      section: 'other-clients',
      on: 'POST /v1/tts, POST /v1/audio/speech',
      what: '400: a voice that there is not (they document no 404)',
      async check(service) {
        const voices = await voicesOf(service);
        assert.ok(voices.length > 0);
        const tts = await service.ask(TTS.on, { body: { text: TEXT, reference_id: 'unknown' } });
        const speech = await service.ask(SPEECH.on, {
          body: { ...(await SPEECH.plain(service)), voice: 'nobody' },
        });
        for (const answer of [tts, speech]) claimStatus(answer, 400, 404);
        if (service.isOurs) claimStatus(tts, 400);
      },
    },
  ];
}
