import assert from 'node:assert/strict';
import { at, claimStatus } from './claims.ts';
import type { Answer, ServiceUnderTest } from './service-under-test.ts';
import { NotApplicable } from './service-under-test.ts';

export const SPEECH = 'POST /api/open/v3/speech/tts';
export const JOBS = 'POST /api/open/v3/speech/tts/jobs';
export const TEXT = 'Hi.';

export interface VoiceFact {
  readonly voiceId: string;
  readonly primaryLanguage: string;
  readonly modelIds: readonly string[];
}

export interface ModelFact {
  readonly id: string;
  readonly available: boolean;
  readonly maxTextLength: number;
  readonly outputFormats: readonly string[];
  readonly controls: Readonly<Record<string, boolean>>;
  readonly supportedOperations: Readonly<Record<string, boolean>>;
}

/** The answer of a read, asked for once. */
export async function read(service: ServiceUnderTest, endpoint: string): Promise<Answer> {
  return service.once(endpoint, () => service.ask(endpoint));
}

export async function voicesOf(service: ServiceUnderTest): Promise<readonly VoiceFact[]> {
  return service.once('all voices', async () => {
    const answer = await service.ask('GET /api/open/v3/voices', { query: { pageSize: 100 } });
    claimStatus(answer, 200);
    return Object(answer.json()).items;
  });
}

export async function modelsOf(service: ServiceUnderTest): Promise<readonly ModelFact[]> {
  const answer = await read(service, 'GET /api/open/v3/speech/tts/capabilities');
  return Object(answer.json()).models;
}

/** A voice with a model that fits, as a request names them. */
export async function pairOf(
  service: ServiceUnderTest,
  fits: (model: ModelFact) => boolean,
): Promise<{ readonly voiceId: string; readonly modelId: string; readonly model: ModelFact }> {
  const models = await modelsOf(service);
  for (const model of models.filter((one) => one.available && fits(one))) {
    const voice = (await voicesOf(service)).find(({ modelIds }) => modelIds.includes(model.id));
    if (voice !== undefined) return { voiceId: voice.voiceId, modelId: model.id, model };
  }
  throw new NotApplicable('no available model with a voice is of this kind');
}

export function isOfFamily(family: string): (model: ModelFact) => boolean {
  return ({ id }) => id.startsWith(family);
}

/** The body that most requests begin with: a voice of the vendor family, a short text. */
export async function plainBody(service: ServiceUnderTest): Promise<Record<string, unknown>> {
  const { voiceId, modelId } = await pairOf(service, (model) => model.id === 'vendor-s21pro-flash');
  return { text: TEXT, voiceId, modelId };
}

/** The id of a job of v3 that succeeded, made once. */
export async function finishedJob(service: ServiceUnderTest): Promise<string> {
  return service.once('a finished job', async () => {
    const created = await service.ask(JOBS, { body: await plainBody(service) });
    claimStatus(created, 202);
    const id = String(at(created.json(), 'task.taskId'));
    assert.equal(await endOf(service, id), 'success');
    return id;
  });
}

/** Polls a job of v3 to its end, and gives its status then. */
export async function endOf(service: ServiceUnderTest, id: string): Promise<string> {
  const job = await polledToEnd(service, `/api/open/v3/speech/tts/jobs/${id}`, 'task.status');
  return String(at(job, 'task.status'));
}

/** Polls a job to its end, as fast as it may be asked, and returns the last answer. */
export async function polledToEnd(
  service: ServiceUnderTest,
  path: string,
  statusAt: string,
): Promise<unknown> {
  for (;;) {
    const answer = await service.ask(`GET ${path}`);
    claimStatus(answer, 200);
    const status = String(at(answer.json(), statusAt));
    if (status !== 'pending' && status !== 'processing') return answer.json();
    const seconds = Number(answer.header('Retry-After') ?? 3);
    // Never without giving way.
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(20, seconds * 1_000));
    });
  }
}

export async function creditsOf(service: ServiceUnderTest): Promise<number> {
  return Number(at((await service.ask('GET /api/open/v1/profile')).json(), 'credits'));
}

/** A new key. */
export function freshKey(): string {
  return `conformance-${crypto.randomUUID()}`;
}
