import { at, claimStatus } from '../claims.ts';
import { freshKey } from '../facts.ts';
import type { Answer, ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';
import { endOf } from './media-calls.ts';

export const MODELS = '/api/open/v1/media/models';
export const IMAGES = '/api/open/v1/media/images/jobs';
export const VIDEOS = '/api/open/v1/media/videos/jobs';

export type PicturePath = typeof IMAGES | typeof VIDEOS;

/** A key of its own for each create. */
export const withKey = () => ({ 'Idempotency-Key': freshKey() });

export async function modelsOf(
  service: ServiceUnderTest,
  mediaType: 'image' | 'video',
): Promise<readonly ReturnType<typeof Object>[]> {
  return service.once(`models of ${mediaType}`, async () => {
    const answer = await service.ask(`GET ${MODELS}`, { query: { mediaType } });
    claimStatus(answer, 200);
    return Object(answer.json()).models;
  });
}

/** A body that is good, and as cheap as there is. */
export async function pictureBody(
  service: ServiceUnderTest,
  path: PicturePath,
): Promise<Record<string, unknown>> {
  const models = await modelsOf(service, path === IMAGES ? 'image' : 'video');
  const ways = models
    .filter((model) => model.available)
    .flatMap((model) => Object(model.variants).map((variant: object) => ({ model, variant })));
  const [cheapest] = ways.toSorted((a, b) => a.variant.credits - b.variant.credits);
  if (cheapest === undefined) throw new NotApplicable('no model of this kind is available');
  const { model, variant } = cheapest;
  const { aspect_ratio, resolution, size, seconds } = variant;
  const chosen = path === IMAGES ? { aspect_ratio, resolution } : { size, seconds };
  return { prompt: 'A red fox', model: model.id, ...chosen };
}

/** The answer of a create that is accepted. */
export async function accepted(
  service: ServiceUnderTest,
  path: PicturePath,
  { more = {}, headers = withKey() }: { more?: object; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const body = { ...(await pictureBody(service, path)), ...more };
  const answer = await service.ask(`POST ${path}`, { body, headers });
  claimStatus(answer, 202);
  return answer;
}

/** A job that has ended, made once. */
export async function ended(service: ServiceUnderTest, path: PicturePath): Promise<unknown> {
  return service.once(`an ended job of ${path}`, async () => {
    const id = String(at((await accepted(service, path)).json(), 'data.id'));
    return endOf(service, path, id);
  });
}
