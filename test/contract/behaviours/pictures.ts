import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimNames, claimRefused, claimStatus } from '../claims.ts';
import { creditsOf, freshKey } from '../facts.ts';
import { NotApplicable } from '../service-under-test.ts';
import {
  accepted,
  ended,
  IMAGES,
  MODELS,
  modelsOf,
  pictureBody,
  VIDEOS,
  withKey,
} from './picture-calls.ts';
import { endOf } from './media-calls.ts';
import type { PicturePath } from './picture-calls.ts';

/** How images and videos are made (docs/api/media.md#jobs, docs/api/media.md and docs/api/errors.md). */
export const pictures: readonly Behaviour[] = [
  ...models(),
  ...([IMAGES, VIDEOS] as const).flatMap((path) => [...creation(path), ...polling(path)]),
  ...references(),
];

function nameOf(path: PicturePath): string {
  return path === IMAGES ? 'images' : 'videos';
}

function models(): readonly Behaviour[] {
  const base = { section: 'media', on: `GET ${MODELS}` };
  return [
    {
      ...base,
      id: 'media-models.type',
      what: '`mediaType` leaves only models of images, or of videos; anything else is 400',
      covers: ['MediaModelsQuery.mediaType'],
      async check(service) {
        for (const type of ['image', 'video'] as const) {
          const types = (await modelsOf(service, type)).map((model) => model.media_type);
          if (service.isOurs) assert.deepEqual([...new Set(types)], [type]);
        }
        const answer = await service.ask(`GET ${MODELS}`, { query: { mediaType: 'sound' } });
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
      },
    },
    {
      ...base,
      id: 'media-models.references',
      what: 'One model takes references at `1k` only, another up to four at all three tiers',
      async check(service) {
        const limits = (await modelsOf(service, 'image')).map((model) =>
          ['1k', '2k', '4k'].map(
            (tier) =>
              Object(model.variants).find(({ resolution }: never) => resolution === tier)
                ?.reference_limit,
          ),
        );
        assert.ok(
          limits.some(([first, ...others]) => first > 0 && others.every((one) => one === 0)),
        );
        assert.ok(limits.some((all) => all.every((one) => one === 4)));
      },
    },
    {
      ...base,
      id: 'media-models.unavailable',
      what: 'A model that is not available says so, and is 503 when it is asked for',
      covers: ['ERR_MODEL_UNAVAILABLE'],
      serve: ['--unavailable', 'altG-image-1'],
      async check(service) {
        const all = await modelsOf(service, 'image');
        assert.deepEqual(
          all.filter((model) => !model.available).map((model) => model.id),
          ['altG-image-1'],
        );
        const body = { prompt: 'A fox', model: 'altG-image-1' };
        const answer = await service.ask(`POST ${IMAGES}`, { body, headers: withKey() });
        claimRefused(answer, 503, 'ERR_MODEL_UNAVAILABLE', service);
      },
    },
  ];
}

function creation(path: PicturePath): readonly Behaviour[] {
  const base = { section: 'media', on: `POST ${path}` };
  return [
    {
      ...base,
      id: `${nameOf(path)}.key.required`,
      what: '`Idempotency-Key` is required: 400 without one',
      covers: ['Idempotency-Key'],
      async check(service) {
        const body = await pictureBody(service, path);
        const answer = await service.ask(`POST ${path}`, { body });
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        claimNames(answer, 'Idempotency-Key', service);
      },
    },
    {
      ...base,
      id: `${nameOf(path)}.accepted`,
      what: '202 with the job’s resource in `Location`; its price is set aside once',
      covers: ['Location', 'Retry-After', 'X-OpenAPI-Credits-Used', 'X-OpenAPI-Quota-Remaining'],
      spends: true,
      async check(service) {
        const before = await creditsOf(service);
        const answer = await accepted(service, path);
        const { id, credits_used, status } = Object(at(answer.json(), 'data'));
        assert.equal(status, 'pending');
        const location = new URL(answer.header('Location') ?? '', 'http://host').pathname;
        assert.equal(location, `${path}/${id}`);
        assert.match(answer.header('Retry-After') ?? '', /^\d+$/);
        assert.equal(answer.header('X-OpenAPI-Credits-Used'), String(credits_used));
        assert.match(answer.header('X-OpenAPI-Quota-Remaining') ?? '', /^\d+$/);
        assert.equal(before - (await creditsOf(service)), credits_used);
      },
    },
    {
      ...base,
      id: `${nameOf(path)}.key.replay`,
      what: 'The same key gives the original answer, without a second job or charge; another request under it is 409',
      covers: ['ERR_REQUEST_ID_CONFLICT'],
      spends: true,
      async check(service) {
        const headers = { 'Idempotency-Key': freshKey() };
        const first = await accepted(service, path, { headers });
        const before = await creditsOf(service);
        const again = await accepted(service, path, { headers });
        assert.deepEqual(again.json(), first.json());
        assert.equal(await creditsOf(service), before);
        const body = { ...(await pictureBody(service, path)), prompt: 'A blue fox' };
        const other = await service.ask(`POST ${path}`, { body, headers });
        claimRefused(other, 409, 'ERR_REQUEST_ID_CONFLICT', service);
      },
    },
    {
      ...base,
      id: `${nameOf(path)}.credits-short`,
      section: 'errors',
      what: '402: credits are short; no job is made',
      covers: ['ERR_INSUFFICIENT_CREDITS'],
      serve: ['--credits', '10'],
      async check(service) {
        const body = await pictureBody(service, path);
        const answer = await service.ask(`POST ${path}`, { body, headers: withKey() });
        claimRefused(answer, 402, 'ERR_INSUFFICIENT_CREDITS', service);
        assert.equal(await creditsOf(service), 10);
      },
    },
    {
      ...base,
      id: `${nameOf(path)}.fails`,
      section: 'errors',
      what: 'A job that fails is refunded, and its error has a code',
      covers: ['ERR_GENERATION_FAILED'],
      serve: ['--fault', 'POST /api/open/v1/media/*/jobs; job=fail'],
      async check(service) {
        const before = await creditsOf(service);
        const id = String(at((await accepted(service, path)).json(), 'data.id'));
        const { data } = Object(await endOf(service, path, id));
        assert.deepEqual([data.status, data.credits_used, data.result_url], ['failed', 0, null]);
        assert.equal(data.error.code, 'ERR_GENERATION_FAILED');
        assert.equal(await creditsOf(service), before);
      },
    },
    {
      ...base,
      id: `${nameOf(path)}.unknown-field`,
      what: 'A field that is not known is 400 (ours)',
      async check(service) {
        const body = { ...(await pictureBody(service, path)), aspectRatio: '1:1' };
        const answer = await service.ask(`POST ${path}`, { body, headers: withKey() });
        if (!service.isOurs) throw new NotApplicable('the spec leaves it open');
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        claimNames(answer, 'aspectRatio', service);
      },
    },
  ];
}

function polling(path: PicturePath): readonly Behaviour[] {
  const base = { section: 'media', on: `GET ${path}/{jobId}` };
  return [
    {
      ...base,
      id: `${nameOf(path)}.result`,
      what: 'A job that is done leads to its result, which needs no key (ours)',
      spends: true,
      async check(service) {
        const url = new URL(String(at(await ended(service, path), 'data.result_url')));
        const answer = await service.ask(`GET ${url.pathname}${url.search}`, {
          headers: { Authorization: undefined },
        });
        claimStatus(answer, 200);
        const type = path === IMAGES ? /^image\/(png|jpeg|webp)$/ : /^video\/mp4$/;
        assert.match(answer.header('Content-Type') ?? '', type);
        assert.ok(answer.bytes.length > 1_000);
      },
    },
    {
      ...base,
      id: `${nameOf(path)}.others`,
      section: 'authentication',
      what: 'A missing job, or that of another account, is 404',
      covers: ['ERR_JOB_NOT_FOUND'],
      spends: true,
      async check(service) {
        const nothing = await service.ask(`GET ${path}/no-such-job`);
        claimRefused(nothing, 404, 'ERR_JOB_NOT_FOUND', service);
        if (service.otherKey === undefined) throw new NotApplicable('there is one account only');
        const id = String(at(await ended(service, path), 'data.id'));
        const headers = { Authorization: `Bearer ${service.otherKey}` };
        const answer = await service.ask(`GET ${path}/${id}`, { headers });
        claimRefused(answer, 404, 'ERR_JOB_NOT_FOUND', service);
      },
    },
  ];
}

function references(): readonly Behaviour[] {
  const base = { section: 'media', on: `POST ${IMAGES}` };
  return [
    {
      ...base,
      id: 'images.references.both',
      what: '`image_url` and `image_urls` together are 400',
      covers: ['ImageRequest.image_url', 'ImageRequest.image_urls'],
      async check(service) {
        const url = 'http://example.com/picture.png';
        const body = {
          ...(await pictureBody(service, IMAGES)),
          image_url: url,
          image_urls: [url],
        };
        const answer = await service.ask(`POST ${IMAGES}`, { body, headers: withKey() });
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
      },
    },
    {
      ...base,
      id: 'images.references.limit',
      what: 'More references than the variant takes are 400, before any is fetched',
      covers: ['ImageVariant.reference_limit'],
      async check(service) {
        const model = (await modelsOf(service, 'image')).find(({ variants }) =>
          Object(variants).some(({ reference_limit }: never) => reference_limit === 0),
        );
        if (model === undefined) throw new NotApplicable('every variant takes references');
        const { resolution, aspect_ratio } = Object(model.variants).find(
          ({ reference_limit }: never) => reference_limit === 0,
        );
        const chosen = { model: model.id, resolution, aspect_ratio };
        const body = { prompt: 'A fox', ...chosen, image_url: 'http://example.com/picture.png' };
        const answer = await service.ask(`POST ${IMAGES}`, { body, headers: withKey() });
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
      },
    },
  ];
}
