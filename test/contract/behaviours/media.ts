import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimRefused, claimStatus } from '../claims.ts';
import { creditsOf, freshKey } from '../facts.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import { NotApplicable } from '../service-under-test.ts';
import { accepted, DUBBING, ended, endOf, LIP_SYNC, mediaAt, mediaBody } from './media-calls.ts';
import { IMAGES, modelsOf, withKey } from './picture-calls.ts';

/** What comes of an address: the status, the code, how far it came, and whether to try again. */
const REFUSALS = [
  [
    'http://10.0.0.1/video.mp4',
    400,
    'ERR_MEDIA_URL_REFUSED',
    'url',
    'an address in a private network',
  ],
  ['http://169.254.169.254/', 400, 'ERR_MEDIA_URL_REFUSED', 'url', 'a link-local address'],
  ['to-private', 400, 'ERR_MEDIA_URL_REFUSED', 'url', 'a redirect to a private network'],
  ['to-file', 400, 'ERR_MEDIA_URL_REFUSED', 'download', 'a redirect to a file'],
  ['huge.mp4', 413, 'ERR_MEDIA_TOO_LARGE', 'download', 'a file above the limit'],
  ['page.html', 415, 'ERR_MEDIA_UNSUPPORTED', 'inspection', 'a page'],
  ['playlist.mp4', 415, 'ERR_MEDIA_UNSUPPORTED', 'inspection', 'a playlist, whatever it names'],
  ['beeps.m4a', 415, 'ERR_MEDIA_UNSUPPORTED', 'inspection', 'a file without video'],
  ['missing', 422, 'ERR_MEDIA_UNREACHABLE', 'download', 'what is not there'],
] as const;

/** Lip sync and dubbing (docs/api/README.md). */
export const media: readonly Behaviour[] = [
  ...creates(),
  ...lists(),
  ...dubbings(),
  ...refusals(),
  ...legacy(),
  resultFile(),
];

function creates(): readonly Behaviour[] {
  const base = { section: 'lip-sync', spends: true };
  return [LIP_SYNC, DUBBING].map((path): Behaviour => ({
    ...base,
    id: `${path === LIP_SYNC ? 'lip-sync' : 'dubbing'}.accepted`,
    on: `POST ${path}`,
    what: '202, with the job in `Location`, seconds in `Retry-After`, and what is set aside; the job ends `completed`',
    covers: ['Location', 'Retry-After', 'X-OpenAPI-Credits-Used', 'X-OpenAPI-Quota-Remaining'],
    async check(service) {
      const before = await creditsOf(service);
      const answer = await accepted(service, path === LIP_SYNC ? LIP_SYNC : DUBBING);
      const id = String(at(answer.json(), 'data.id'));
      assert.equal(
        new URL(answer.header('Location') ?? '', 'http://host').pathname,
        `${path}/${id}`,
      );
      assert.match(answer.header('Retry-After') ?? '', /^\d+$/);
      assert.match(answer.header('X-OpenAPI-Quota-Remaining') ?? '', /^\d+$/);
      const used = Number(answer.header('X-OpenAPI-Credits-Used'));
      assert.equal(before - (await creditsOf(service)), used);
      const end = await endOf(service, path === LIP_SYNC ? LIP_SYNC : DUBBING, id);
      assert.equal(at(end, 'data.status'), 'completed');
    },
  }));
}

function lists(): readonly Behaviour[] {
  const base = { section: 'lip-sync', on: `GET ${LIP_SYNC}` };
  return [
    {
      ...base,
      id: 'lip-sync.list.filter',
      what: '`page`, `limit` and `status` choose',
      covers: ['LipSyncListQuery.page', 'LipSyncListQuery.limit', 'LipSyncListQuery.status'],
      spends: true,
      async check(service) {
        await ended(service, LIP_SYNC);
        const query = { page: 1, limit: 1, status: 'completed' };
        const items = at((await service.ask(`GET ${LIP_SYNC}`, { query })).json(), 'data.items');
        assert.deepEqual(
          Object(items).map((item: unknown) => at(item, 'status')),
          ['completed'],
        );
        const failed = await service.ask(`GET ${LIP_SYNC}`, { query: { status: 'failed' } });
        assert.deepEqual(at(failed.json(), 'data.items'), []);
      },
    },
    {
      ...base,
      id: 'lip-sync.list.refuses',
      section: 'errors',
      what: '400 for a status that there is none of, and for pages that there cannot be',
      async check(service) {
        for (const query of [{ status: 'done' }, { page: 0 }, { limit: 101 }, { limit: 'all' }]) {
          const answer = await service.ask(`GET ${LIP_SYNC}`, { query });
          claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        }
      },
    },
    ...[LIP_SYNC, DUBBING].map((path): Behaviour => ({
      id: `${path === LIP_SYNC ? 'lip-sync' : 'dubbing'}.unknown`,
      section: 'errors',
      on: `GET ${path}/{jobId}`,
      what: '404 for a job that there is not, or that is another account’s',
      covers: ['ERR_JOB_NOT_FOUND'],
      spends: true,
      async check(service) {
        const unknown = await service.ask(`GET ${path}/no-such-job`);
        claimRefused(unknown, 404, 'ERR_JOB_NOT_FOUND', service);
        if (service.otherKey === undefined) return;
        const job = await ended(service, path === LIP_SYNC ? LIP_SYNC : DUBBING);
        const headers = { Authorization: `Bearer ${service.otherKey}` };
        const foreign = await service.ask(`GET ${path}/${String(at(job, 'data.id'))}`, { headers });
        claimRefused(foreign, 404, 'ERR_JOB_NOT_FOUND', service);
      },
    })),
  ];
}

function dubbings(): readonly Behaviour[] {
  const base = { on: `POST ${DUBBING}`, spends: true };
  return [
    {
      ...base,
      id: 'dubbing.key',
      section: 'lip-sync',
      what: 'The same `Idempotency-Key` gives the same answer and costs nothing again; another body under it is 409',
      covers: ['Idempotency-Key', 'ERR_REQUEST_ID_CONFLICT'],
      async check(service) {
        const body = await mediaBody(service, DUBBING);
        const headers = { 'Idempotency-Key': freshKey() };
        const first = await service.ask(`POST ${DUBBING}`, { body, headers });
        claimStatus(first, 202);
        const before = await creditsOf(service);
        const again = await service.ask(`POST ${DUBBING}`, { body, headers });
        assert.deepEqual(again.json(), first.json());
        assert.equal(await creditsOf(service), before);
        const other = { ...body, text: 'Something else.' };
        const answer = await service.ask(`POST ${DUBBING}`, { body: other, headers });
        claimRefused(answer, 409, 'ERR_REQUEST_ID_CONFLICT', service);
      },
    },
    {
      ...base,
      id: 'dubbing.fit.impossible',
      section: 'errors',
      what: 'Speech that would have to be slower than 0.5x or faster than 2x: refused before lip sync, with `tts_audio_url` and `tts_credits_used` of the speech, which is not refunded',
      covers: ['ERR_DUBBING_FIT_IMPOSSIBLE', 'DUBBING_TEMPO_RANGE'],
      async check(service) {
        const body = { ...(await mediaBody(service, DUBBING)), fit_audio_to_video: true };
        const before = await creditsOf(service);
        const answer = await service.ask(`POST ${DUBBING}`, { body });
        claimRefused(answer, 400, 'ERR_DUBBING_FIT_IMPOSSIBLE', service);
        const { tts_audio_url: url, tts_credits_used: credits } = Object(answer.json()).details;
        assert.equal(before - (await creditsOf(service)), credits);
        const { pathname, search } = new URL(url);
        const headers = { Authorization: undefined };
        const audio = await service.ask(`GET ${pathname}${search}`, { headers });
        assert.ok((await service.listen(audio.bytes)) > 100);
      },
    },
  ];
}

function refusals(): readonly Behaviour[] {
  const base = { section: 'errors' };
  return [
    ...[LIP_SYNC, DUBBING].map((path): Behaviour => ({
      ...base,
      id: `${path === LIP_SYNC ? 'lip-sync' : 'dubbing'}.import`,
      on: `POST ${path}`,
      what: `No job and no charge, with \`details\` of \`media_kind\`, \`stage\` and \`retryable\`, for ${REFUSALS.map(([, status, , , what]) => `${what} (${status})`).join(', ')}`,
      covers: [...new Set(REFUSALS.map(([, , code]) => code)), 'MEDIA_VIDEO_MAX_BYTES'],
      async check(service) {
        const before = await creditsOf(service);
        const body = await mediaBody(service, path === LIP_SYNC ? LIP_SYNC : DUBBING);
        for (const [name, status, code, stage] of REFUSALS) {
          const video_url = name.startsWith('http') ? name : await mediaAt(service, name);
          const answer = await service.ask(`POST ${path}`, { body: { ...body, video_url } });
          claimRefused(answer, status, code, service);
          const details = { media_kind: 'video', stage, retryable: false };
          assert.deepEqual(at(answer.json(), 'details'), details);
        }
        assert.equal(await creditsOf(service), before);
      },
    })),
    tooLarge(
      'bomb.wav',
      'MEDIA_AUDIO_MAX_BYTES',
      'of too many bytes, as it is after it was unpacked',
    ),
    tooLarge('long.wav', 'MEDIA_SECONDS_MAX', 'of too many seconds'),
    {
      ...base,
      id: 'lip-sync.import.repetition',
      on: `POST ${LIP_SYNC}`,
      what: '413 for a video that `video_extension` would show so often that the result had too many bytes or pictures',
      covers: ['ERR_MEDIA_TOO_LARGE', 'MEDIA_RESULT_MAX_BYTES', 'MEDIA_RESULT_MAX_PICTURES'],
      async check(service) {
        const before = await creditsOf(service);
        const video_url = await mediaAt(service, 'one-picture.mp4');
        for (const [name, unit] of [
          ['half-an-hour.wav', 'bytes'],
          ['ten-minutes.wav', 'pictures'],
        ] as const) {
          const audio_url = await mediaAt(service, name);
          const body = { video_url, audio_url, video_extension: true };
          const answer = await service.ask(`POST ${LIP_SYNC}`, { body });
          claimRefused(answer, 413, 'ERR_MEDIA_TOO_LARGE', service);
          assert.ok(String(at(answer.json(), 'message')).endsWith(unit));
        }
        assert.equal(await creditsOf(service), before);
      },
    },
    {
      ...base,
      id: 'images.import.large',
      on: `POST ${IMAGES}`,
      what: '413 for a reference above the limit',
      covers: ['ERR_MEDIA_TOO_LARGE', 'MEDIA_IMAGE_MAX_BYTES'],
      async check(service) {
        const models = await modelsOf(service, 'image');
        const { id: model } = models.find(({ variants }) => variants[0].reference_limit > 0);
        const image_url = await mediaAt(service, 'huge.mp4');
        const body = { prompt: 'A red fox', model, image_url };
        const answer = await service.ask(`POST ${IMAGES}`, { body, headers: withKey() });
        claimRefused(answer, 413, 'ERR_MEDIA_TOO_LARGE', service);
        assert.equal(at(answer.json(), 'details.media_kind'), 'image');
      },
    },
    {
      id: 'lip-sync.credits-short',
      section: 'errors',
      on: `POST ${LIP_SYNC}`,
      what: '402: credits are short; no job is made',
      covers: ['ERR_INSUFFICIENT_CREDITS'],
      serve: ['--credits', '10'],
      async check(service) {
        const body = await mediaBody(service, LIP_SYNC);
        const answer = await service.ask(`POST ${LIP_SYNC}`, { body });
        claimRefused(answer, 402, 'ERR_INSUFFICIENT_CREDITS', service);
        assert.deepEqual(at((await service.ask(`GET ${LIP_SYNC}`)).json(), 'data.items'), []);
      },
    },
  ];
}

function tooLarge(name: string, limit: string, what: string): Behaviour {
  return {
    id: `lip-sync.import.${name}`,
    section: 'errors',
    on: `POST ${LIP_SYNC}`,
    what: `413 for sound ${what}`,
    covers: ['ERR_MEDIA_TOO_LARGE', limit],
    async check(service) {
      const audio_url = await mediaAt(service, name);
      const body = { ...(await mediaBody(service, LIP_SYNC)), audio_url };
      const answer = await service.ask(`POST ${LIP_SYNC}`, { body });
      claimRefused(answer, 413, 'ERR_MEDIA_TOO_LARGE', service);
      assert.equal(at(answer.json(), 'details.media_kind'), 'audio');
    },
  };
}

function legacy(): readonly Behaviour[] {
  const base = { section: 'versions', spends: true };
  return [
    {
      ...base,
      id: 'lip-sync.legacy.create',
      on: 'POST /api/open/lip-sync/create',
      what: 'The older path of the create makes the same job',
      async check(service) {
        const answer = await accepted(service, LIP_SYNC, { to: '/api/open/lip-sync/create' });
        const id = String(at(answer.json(), 'data.id'));
        assert.equal(at(await endOf(service, LIP_SYNC, id), 'data.status'), 'completed');
      },
    },
    {
      ...base,
      id: 'lip-sync.legacy.list',
      on: 'GET /api/open/lip-sync/list',
      what: 'The older path of the list gives the same one',
      async check(service) {
        await ended(service, LIP_SYNC);
        const ids = async (path: string): Promise<unknown> =>
          Object(at((await service.ask(`GET ${path}`)).json(), 'data.items')).map((item: unknown) =>
            at(item, 'id'),
          );
        assert.deepEqual(await ids('/api/open/lip-sync/list'), await ids(LIP_SYNC));
      },
    },
    {
      ...base,
      id: 'lip-sync.legacy.query',
      on: 'GET /api/open/lip-sync/query',
      what: 'The older path of the poll takes the id as `jobId` (ours); 400 without it',
      covers: ['LipSyncQuery.jobId'],
      async check(service) {
        requireOurs(service);
        const jobId = String(at(await ended(service, LIP_SYNC), 'data.id'));
        const path = 'GET /api/open/lip-sync/query';
        assert.equal(at((await service.ask(path, { query: { jobId } })).json(), 'data.id'), jobId);
        claimRefused(await service.ask(path), 400, 'ERR_INVALID_REQUEST', service);
      },
    },
  ];
}

function resultFile(): Behaviour {
  return {
    id: 'ours.media-file',
    section: 'ours',
    on: 'GET /api/open/media/files/{fileId}',
    what: 'Gives a result without a key, `download=1` to be saved; 403 for a signature or a time that was not given, 400 without them',
    covers: ['ERR_FORBIDDEN'],
    spends: true,
    async check(service) {
      requireOurs(service);
      const url = new URL(String(at(await ended(service, LIP_SYNC), 'data.result_url')));
      const ask = async (change: Readonly<Record<string, string>>) => {
        const query = { ...Object.fromEntries(url.searchParams), ...change };
        return service.ask(`GET ${url.pathname}`, { query, headers: { Authorization: undefined } });
      };
      const file = await ask({});
      claimStatus(file, 200);
      assert.equal(file.header('Content-Type'), 'video/mp4');
      assert.match(
        (await ask({ download: '1' })).header('Content-Disposition') ?? '',
        /^attachment/,
      );
      claimRefused(await ask({ signature: 'made-up' }), 403, 'ERR_FORBIDDEN', service);
      claimRefused(await ask({ expires: '99999999999' }), 403, 'ERR_FORBIDDEN', service);
      const bare = await service.ask(`GET ${url.pathname}`);
      claimRefused(bare, 400, 'ERR_INVALID_REQUEST', service);
    },
  };
}

function requireOurs({ isOurs }: ServiceUnderTest): void {
  if (!isOurs) throw new NotApplicable('the spec does not have it');
}
