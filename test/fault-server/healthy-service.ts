import { errorAnswer } from './faults/status.ts';
import { audio } from './faults/wrong-answer.ts';
import { answer } from './http-text.ts';
import type { RecordedRequest } from './recorded-request.ts';
import type { Answer, Rule } from './script.ts';
import { givenRequest, refusalOf } from '../sparse-service/strict-request.ts';
import type { Step } from './steps.ts';
import type { Payload, TinyAudio } from './tiny-audio.ts';

export const VOICES = [
  {
    voiceId: '5b0c7a52-6f0e-4f0e-9d3c-0d4f6b1f7a11',
    name: 'Nadia',
    isPersonal: false,
    primaryLanguage: 'en',
    languages: ['en', 'de'],
    modelIds: ['vendor-s21pro-flash', 'vendor-s21pro'],
  },
  {
    voiceId: 'c2f1d3a4-1a2b-4c3d-8e4f-5a6b7c8d9e0f',
    name: 'Tomas',
    isPersonal: true,
    primaryLanguage: 'cs',
    languages: ['cs'],
    modelIds: ['altF-flash-v2.5'],
  },
] as const;

const OPERATIONS = { synchronous: true, asynchronous: true, alignedStreaming: false };
const CONTROLS = { speed: true, volume: true, stability: true, similarity: true };

export const MODELS = [
  {
    id: 'vendor-s21pro-flash',
    available: true,
    maxTextLength: 10_000,
    outputFormats: ['mp3', 'wav', 'ogg'],
    controls: { ...CONTROLS, pitch: false },
    supportedOperations: OPERATIONS,
  },
  {
    id: 'vendor-s21pro',
    available: true,
    maxTextLength: 5_000,
    outputFormats: ['mp3', 'wav'],
    controls: { ...CONTROLS, pitch: false },
    supportedOperations: OPERATIONS,
  },
  {
    id: 'altF-flash-v2.5',
    available: true,
    maxTextLength: 3_000,
    outputFormats: ['mp3'],
    controls: { ...CONTROLS, volume: false, pitch: false },
    supportedOperations: OPERATIONS,
  },
] as const;

export const SPEECH_PATH = '/api/open/v3/speech/tts';
export const CAPABILITIES_PATH = `${SPEECH_PATH}/capabilities`;
export const VOICES_PATH = '/api/open/v3/voices';
export const PROFILE_PATH = '/api/open/v1/profile';

export interface HealthyOptions {
  readonly audio: TinyAudio;
  /** The one key that is accepted; without it any key is. */
  readonly key?: string;
}

/**
 * Rules of a service in good health: speech, voices, capabilities and profile as the spec has them.
 * Put the rules of a fault before them.
 */
export function healthyService({ audio: sounds, key }: HealthyOptions): Rule[] {
  const guarded =
    (serve: (request: RecordedRequest) => Step[]): Answer =>
    (request) =>
      isAllowed(request, key) ? serve(request) : unauthorized(request);
  const optional = true;
  return [
    { optional, method: 'GET', path: CAPABILITIES_PATH, answer: () => json(200, capabilities()) },
    { optional, method: 'GET', path: VOICES_PATH, answer: guarded(listVoices) },
    {
      optional,
      method: 'GET',
      path: /^\/api\/open\/v3\/voices\/[^/]+$/,
      answer: guarded(getVoice),
    },
    {
      optional,
      method: 'POST',
      path: SPEECH_PATH,
      answer: guarded((request) => speak(request, sounds)),
    },
    { optional, method: 'GET', path: PROFILE_PATH, answer: guarded(() => json(200, profile())) },
    { optional, method: 'POST', path: PROFILE_PATH, answer: guarded(() => json(200, profile())) },
  ];
}

function isAllowed(request: RecordedRequest, key: string | undefined): boolean {
  const credential = /^Bearer (\S+)$/.exec(request.header('authorization') ?? '')?.[1];
  return credential !== undefined && (key === undefined || credential === key);
}

function unauthorized(request: RecordedRequest): Step[] {
  const message = 'The API key is missing or not valid.';
  return errorAnswer(401, { code: 'ERR_UNAUTHORIZED', message, requestId: requestIdOf(request) });
}

function capabilities(): unknown {
  return { contractVersion: '3.0', route: SPEECH_PATH, models: MODELS };
}

function listVoices(request: RecordedRequest): Step[] {
  const { query } = request;
  const page = Number(query.get('page') ?? 1);
  const pageSize = Number(query.get('pageSize') ?? 20);
  const isPersonalToo = query.get('includePersonal') === 'true';
  const all = VOICES.filter((voice) => isPersonalToo || !voice.isPersonal);
  return json(200, {
    total: all.length,
    page,
    pageSize,
    totalPages: Math.ceil(all.length / pageSize),
    items: all.slice((page - 1) * pageSize, page * pageSize),
    requestId: requestIdOf(request),
  });
}

function getVoice(request: RecordedRequest): Step[] {
  const requestId = requestIdOf(request);
  const voice = VOICES.find(({ voiceId }) => request.path.endsWith(`/${voiceId}`));
  return voice === undefined ? noVoice(requestId) : json(200, { ...voice, requestId });
}

function speak(request: RecordedRequest, sounds: TinyAudio): Step[] {
  const requestId = requestIdOf(request);
  const invalid = (message: string): Step[] =>
    errorAnswer(400, { code: 'ERR_INVALID_REQUEST', message, requestId });
  const reason = refusalOf(givenRequest(request));
  if (reason !== undefined) return invalid(reason);
  const { text, voiceId, modelId, format = 'mp3' } = Object(JSON.parse(request.body.toString()));
  const voice = VOICES.find((one) => one.voiceId === voiceId);
  if (voice === undefined) return noVoice(requestId);
  const id: string = modelId ?? voice.modelIds[0];
  const isOfVoice = voice.modelIds.some((one) => one === id);
  const model = MODELS.find((one) => isOfVoice && one.id === id);
  const length = Array.from(String(text)).length;
  if (model === undefined) return invalid('The voice does not have this model.');
  if (length > model.maxTextLength) return invalid('The text is too long.');
  const sound = model.outputFormats.includes(format)
    ? new Map<unknown, Payload>(Object.entries(sounds)).get(format)
    : undefined;
  if (sound === undefined) return invalid('The model does not have this format.');
  const headers = {
    'X-Request-Id': requestId,
    'X-OpenAPI-Quota-Remaining': '990000',
    'X-OpenAPI-Credits-Used': String(length),
  };
  return audio({ ...sound, headers });
}

function noVoice(requestId: string): Step[] {
  const message = 'There is no such voice.';
  return errorAnswer(404, { code: 'ERR_VOICE_NOT_FOUND', message, requestId });
}

function profile(): unknown {
  return { user_id: 'u-1', api_quota_remaining: 990_000, tier: 'studio', credits: 1234.5 };
}

function json(status: number, body: unknown): Step[] {
  return answer(status, { 'Content-Type': 'application/json' }, JSON.stringify(body));
}

function requestIdOf(request: RecordedRequest): string {
  return request.header('x-request-id') ?? `r-${request.number}`;
}
