import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimStatus } from '../claims.ts';
import { pairOf, plainBody, voicesOf } from '../facts.ts';
import type { RequestBody, RequestField } from '../request-fields.ts';
import { requestFields } from '../request-fields.ts';
import type { Answer, ServiceUnderTest } from '../service-under-test.ts';

const SYNC = { plain: plainBody, claimTaken: (answer: Answer) => claimAudio(answer) };
const JOB = {
  plain: plainBody,
  claimTaken(answer: Answer) {
    claimStatus(answer, 202);
    assert.notEqual(at(answer.json(), 'task.taskId'), undefined);
  },
};

const V3: RequestBody = {
  ...SYNC,
  id: 'tts-v3',
  of: 'SpeechRequest',
  section: 'speech#v3',
  on: 'POST /api/open/v3/speech/tts',
};
const ALIGNED: RequestBody = {
  id: 'aligned',
  of: 'SpeechRequest',
  section: 'speech#aligned-stream',
  on: 'POST /api/open/v3/speech/tts/aligned',
  plain: plainBody,
  claimTaken(answer: Answer) {
    claimStatus(answer, 200);
    assert.match(answer.bytes.toString(), /\nevent: completed\n/);
  },
};
const V3_JOBS: RequestBody = {
  ...JOB,
  id: 'jobs-v3',
  of: 'SpeechRequest',
  section: 'jobs#v3',
  on: 'POST /api/open/v3/speech/tts/jobs',
};
const V2: RequestBody = {
  ...SYNC,
  id: 'tts-v2',
  of: 'SpeechRequestV2',
  section: 'speech#v2',
  on: 'POST /api/open/v2/speech/tts',
};
const V1: RequestBody = {
  ...SYNC,
  id: 'tts-v1',
  of: 'SpeechRequestV1',
  section: 'speech#v1',
  on: 'POST /api/open/v1/speech/tts',
};
const V1_JOBS: RequestBody = {
  ...JOB,
  id: 'jobs-v1',
  of: 'JobRequestV1',
  section: 'jobs#v1',
  on: 'POST /api/open/v1/speech/tts/jobs',
};

const TEXT: RequestField = {
  name: 'text',
  what: '1 to 10,000 characters',
  isRequired: true,
  takes: ['A.', 'Grüße, 🙂.'],
  refuses: ['', 'a'.repeat(10_001), 7, null, ['Hello']],
  limits: ['TEXT_MAX_CHARACTERS'],
};
const VOICE: RequestField = {
  name: 'voiceId',
  what: 'a voice of the list',
  isRequired: true,
  refuses: ['', 7, null],
};
const CONTROLS: readonly RequestField[] = [
  { name: 'modelId', what: 'a public model id', refuses: [7, '', 'tts-1'] },
  {
    name: 'format',
    what: 'mp3, wav or ogg',
    takes: ['mp3', 'wav', 'ogg'],
    refuses: ['flac', 'MP3', 3],
  },
  range('speed', '0.5 to 2', [0.5, 2], [0.49, 2.01]),
  range('volume', '-20 to 20', [-20, 20], [-20.1, 20.1]),
  range('pitch', '-12 to 12', [-12, 12], [-12.1, 12.1]),
  range('stability', '0.5 to 1.5 in the vendor family', [0.5, 1.5], [0.49, 1.51]),
  range('similarity', '0.5 to 1.5 in the vendor family', [0.5, 1.5], [0.49, 1.51]),
  {
    name: 'language',
    what: 'a hint of 1 to 64 characters',
    takes: ['en', 'x'.repeat(64)],
    refuses: ['', 'x'.repeat(65), 1],
    limits: ['LANGUAGE_MAX_CHARACTERS'],
  },
  {
    name: 'emotion',
    what: 'an id of 1 to 64 characters',
    takes: ['happy', 'x'.repeat(64)],
    refuses: ['', 'x'.repeat(65), 1],
    limits: ['EMOTION_MAX_CHARACTERS'],
  },
  {
    name: 'instruction',
    what: 'up to 1,600 characters',
    takes: ['', 'Slowly.', 'x'.repeat(1_600)],
    refuses: ['x'.repeat(1_601), 1],
    limits: ['INSTRUCTION_MAX_CHARACTERS'],
  },
  { name: 'textNormalization', what: 'a boolean', takes: [true, false], refuses: ['true', 1] },
  {
    name: 'filterEmoji',
    what: 'only JSON `true` enables it',
    takes: [true, false],
    refuses: ['true', 'false', 1, 0],
  },
];

function range(
  name: string,
  what: string,
  takes: readonly unknown[],
  outside: readonly unknown[],
): RequestField {
  return {
    name,
    what,
    takes,
    refuses: [...outside, '1', null, true],
    limits: [`${name.toUpperCase()}_RANGE`],
  };
}

const ALL = [TEXT, VOICE, ...CONTROLS];
const OLD_VOICE: RequestField = {
  name: 'reference_id',
  what: 'the old name of `voiceId`',
  refuses: [7, ''],
};

/** Every field of every speech body, with its range (docs/api/README.md). */
export const speechBodies: readonly Behaviour[] = [
  ...requestFields(V3, ALL),
  ...requestFields(ALIGNED, ALL),
  ...requestFields(V3_JOBS, ALL),
  ...requestFields(V2, [...ALL, ...historicalFields()]),
  ...requestFields(V1, [
    ...ALL,
    OLD_VOICE,
    { name: 'cache', what: 'a boolean', refuses: ['true', 1] },
  ]),
  ...requestFields(V1_JOBS, [...ALL, OLD_VOICE]),
  ...[V1, V1_JOBS].map((body) => aliasOf(body)),
  ...historicalFields().map(({ name }) => strangerOf(V3, name)),
  ...['provider', 'apiKey', 'unknown'].map((name) => strangerOf(V3, name)),
  strangerOf(ALIGNED, 'unknown'),
  ...['token', 'unknown'].map((name) => strangerOf(V3_JOBS, name)),
];

/** Old clients send them; only v3 minds. */
function historicalFields(): readonly RequestField[] {
  return ['engineModelId', 'version', 'qwenModel', 'minimaxEmotion', 'token'].map((name) => ({
    name,
    what: 'accepted for old clients',
    takes: ['anything', 3],
  }));
}

function strangerOf({ id, section, on, plain }: RequestBody, name: string): Behaviour {
  return {
    id: `${id}.unknown.${name}`,
    section,
    on,
    what: `The body is strict: a property \`${name}\` is 400`,
    async check(service) {
      const answer = await service.ask(on, { body: { ...(await plain(service)), [name]: 'x' } });
      claimStatus(answer, 400);
    },
  };
}

function aliasOf({ id, of, on, claimTaken }: RequestBody): Behaviour {
  return {
    id: `${id}.reference_id`,
    section: 'versions',
    on,
    what: '`reference_id` alone is the voice',
    covers: [`${of}.reference_id`],
    spends: true,
    async check(service) {
      const { voiceId, ...rest } = await plainBody(service);
      claimTaken(await service.ask(on, { body: { ...rest, reference_id: voiceId } }));
    },
  };
}

/** A voice of one family and a model of another. */
export async function mismatch(service: ServiceUnderTest): Promise<Record<string, unknown>> {
  const { voiceId } = await pairOf(service, ({ id }) => id.startsWith('vendor'));
  const voice = (await voicesOf(service)).find((one) => one.voiceId === voiceId);
  const { modelId } = await pairOf(service, ({ id }) => voice?.modelIds.includes(id) === false);
  return { text: 'Hello.', voiceId, modelId };
}
