import sharp from 'sharp';
import { expect } from 'vitest';
import { ENDPOINTS } from '../../../src/contract/generated/endpoints.ts';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { readBooks } from './books.ts';
import { VOICE_ID } from './orders.ts';
import { fixtureFile, serveMedia } from './media-calls.ts';
import type { ServingFoley } from './serve.ts';

/** A billed request to an endpoint that takes an idempotency key. */
export interface KeyedRequest {
  /** The endpoint, with the headers and options that differ from other requests to it. */
  readonly name: string;
  /** What the same request gets: the result at any time, once it is made, or never again. */
  readonly repeat: 'replay' | 'replay-made' | 'refuse';
  readonly path: string;
  readonly body: object;
  /** The headers of one of the requests that race under a key. */
  readonly headersOf: (key: string, turn: number) => Readonly<Record<string, string>>;
}

/** What a request came to, without what differs from one response to the next. */
export interface Outcome {
  readonly status: number;
  /** The error code, or what was made: the id of the job, design or voice, or the address of cached audio. */
  readonly result: string;
}

/** Pictures fail at once: the races are about their creation. */
export const RACE_FLAGS = ['--fault', 'POST /api/open/v1/media/*/jobs; job=fail'];

const TEXT = 'The same thing, asked for again and again.';
const SPEECH = { text: TEXT, voiceId: VOICE_ID, modelId: 'vendor-s21pro' };
const DESIGN = { prompt: 'An old woman with a calm, low voice', previewText: 'Hi.' };
const SLOW_FILE_MS = 150;

type Service = Pick<ServingFoley, 'ask'>;
type KeyedEndpoint = Extract<(typeof ENDPOINTS)[number], { readonly repeat: string }>;

/** Every endpoint of the contract that takes a key. */
const KEYED_ENDPOINTS = ENDPOINTS.filter(
  (endpoint): endpoint is KeyedEndpoint => 'repeat' in endpoint,
);

type Bodies = Readonly<Record<KeyedEndpoint['id'], () => Promise<object> | object>>;

/** Makes a valid request for every keyed endpoint: a new one is a type error until it has a body here. */
export async function keyedRequests(service: Service): Promise<readonly KeyedRequest[]> {
  const files = await slowMedia();
  const design = await send(
    service,
    { path: '/api/open/v1/voice-designs', body: DESIGN },
    { 'Idempotency-Key': 'design' },
  );
  const { candidates, designId } = Object(design.body);
  const bodies: Bodies = {
    createSpeech: () => SPEECH,
    createAlignedSpeech: () => SPEECH,
    createSpeechV2: () => SPEECH,
    createSpeechV1: () => SPEECH,
    createJob: () => SPEECH,
    createJobV1: () => SPEECH,
    createDubbing: () => ({
      video_url: `${files}/video.mp4`,
      text: TEXT,
      reference_id: VOICE_ID,
    }),
    createVoiceDesign: () => DESIGN,
    saveVoiceDesign: () => ({ candidateId: candidates[0].candidateId, name: 'Anna' }),
    createImageJob: () => pictureOf(service, 'image', { image_url: `${files}/image.png` }),
    createVideoJob: () => pictureOf(service, 'video'),
  };
  const requests = KEYED_ENDPOINTS.map(async (endpoint): Promise<readonly KeyedRequest[]> => {
    const { id: name, repeat } = endpoint;
    const path = endpoint.path.replace('{designId}', String(designId));
    const body = await bodies[name]();
    const request = { name, repeat, path, body };
    if (name !== 'createSpeechV1') return withHeaders(endpoint, request);
    const cached = { ...request, name: `${name}.cache`, body: { ...body, cache: true } };
    const all = [request, { ...cached, repeat: 'replay-made' } as const];
    return all.flatMap((one) => withHeaders(endpoint, one));
  });
  return (await Promise.all(requests)).flat();
}

/** The second key of requests that have two. */
const TRACE = '.trace';

/** The request with each header that may hold its key, and with both among some with the second alone. */
function withHeaders(
  endpoint: KeyedEndpoint,
  request: Omit<KeyedRequest, 'headersOf'>,
): readonly KeyedRequest[] {
  const named: KeyedRequest = { ...request, headersOf: (key) => ({ 'Idempotency-Key': key }) };
  if (!('isKeyedByRequestId' in endpoint)) return [named];
  const { name } = request;
  return [
    named,
    { ...request, name: `${name}.id`, headersOf: (key) => ({ 'X-Request-Id': key }) },
    { ...request, name: `${name}.either`, headersOf: eitherKey },
  ];
}

function eitherKey(key: string, turn: number): Readonly<Record<string, string>> {
  const trace = { 'X-Request-Id': key + TRACE };
  return turn % 2 === 0 ? { ...trace, 'Idempotency-Key': key } : trace;
}

/** Sends a request with its headers. */
async function send(
  { ask }: Service,
  { path, body }: Pick<KeyedRequest, 'path' | 'body'>,
  headers: Readonly<Record<string, string>>,
): Promise<Outcome & { readonly body: unknown }> {
  const { bytes, headers: given, status } = await ask(path, { method: 'POST', body, headers });
  const isJson = String(given['content-type']).startsWith('application/json');
  const json: unknown = isJson ? JSON.parse(bytes.toString()) : {};
  const { audio_url: address, code, data, designId, task, voiceId } = Object(json);
  const cached = address === undefined ? undefined : new URL(address).pathname;
  const made = task?.taskId ?? data?.id ?? voiceId ?? designId ?? cached ?? 'audio';
  return { status, result: String(code ?? made), body: json };
}

/** Sends the same request so many times at once, once more shortly after, and once more when all are answered. */
export async function race(
  service: Service,
  request: KeyedRequest,
  { count, key }: { readonly count: number; readonly key: string },
): Promise<readonly Outcome[]> {
  const turn = (at: number): Promise<Outcome> => send(service, request, request.headersOf(key, at));
  const first = Array.from({ length: count - 1 }, (_, at) => turn(at));
  const late = service.ask(PROFILE_PATH).then(() => turn(count - 1));
  const overlapping = await Promise.all([...first, late]);
  return [...overlapping, await turn(count)];
}

const RUNNING = '409 ERR_REQUEST_IN_PROGRESS';
const REFUSALS: Readonly<Record<KeyedRequest['repeat'], readonly string[]>> = {
  replay: [],
  'replay-made': [RUNNING],
  refuse: [RUNNING, '409 ERR_REQUEST_ALREADY_COMPLETED'],
};

/** One answer: the same result for all, or one result and refusals that say why. */
export function expectOneAnswer(
  { name, repeat }: KeyedRequest,
  outcomes: readonly Outcome[],
): void {
  const seen = outcomes.map(({ result, status }) => `${status} ${result}`);
  const made = seen.filter((outcome) => outcome.startsWith('2'));
  const refused = seen.filter((outcome) => !made.includes(outcome));
  const others = refused.filter((outcome) => !REFUSALS[repeat].includes(outcome));
  expect.soft([name, new Set(made).size, others]).toEqual([name, 1, []]);
  if (repeat === 'refuse') expect.soft([name, made.length]).toEqual([name, 1]);
  else expect.soft([name, seen.at(-1)]).toEqual([name, made[0]]);
}

/** One charge: the ledger of a service that has ended has one operation for each key or pair of keys, settled once. */
export async function expectOneCharge(dataDir: string, keys: readonly string[]): Promise<void> {
  const { faults, operations } = await readBooks(dataDir);
  expect(faults).toEqual([]);
  for (const key of keys) {
    const booked = operations.filter((one) => one.key === key || one.key === key + TRACE);
    expect([key, booked]).toMatchObject([key, [{ reserves: 1 }]]);
    for (const { commits, refunds, spent, state } of booked) {
      expect([key, state]).toEqual([key, refunds === 0 ? 'completed' : 'refunded']);
      // Audio that was being sent when its process died was committed first.
      if (refunds === 0) expect([key, commits]).toEqual([key, 1]);
      else expect([key, refunds, spent]).toEqual([key, 1, 0]);
    }
  }
}

/** Files that take so long to come that requests overlap. */
async function slowMedia(): Promise<string> {
  const background = { r: 200, g: 80, b: 40 };
  const drawn = sharp({ create: { width: 64, height: 64, channels: 3, background } });
  const [video, image] = await Promise.all([fixtureFile('h264.mp4'), drawn.png().toBuffer()]);
  return serveMedia({ 'video.mp4': slow(video), 'image.png': slow(image) });
}

function slow(bytes: Buffer) {
  return (_: unknown, response: { end: (bytes: Buffer) => void }) =>
    void setTimeout(() => response.end(bytes), SLOW_FILE_MS);
}

/** The cheapest picture of a kind. */
async function pictureOf(
  { ask }: Service,
  mediaType: 'image' | 'video',
  more: object = {},
): Promise<object> {
  const { bytes } = await ask(`/api/open/v1/media/models?mediaType=${mediaType}`);
  const { models } = Object(JSON.parse(bytes.toString()));
  const ways = models.flatMap(({ id, variants }: { id: string; variants: object[] }) =>
    variants.map((variant) => ({ id, ...variant })),
  );
  const [{ id, aspect_ratio, resolution, size, seconds }] = ways.toSorted(
    (one: { credits: number }, other: { credits: number }) => one.credits - other.credits,
  );
  const chosen = mediaType === 'image' ? { aspect_ratio, resolution } : { size, seconds };
  return { prompt: 'A red fox', model: id, ...chosen, ...more };
}
