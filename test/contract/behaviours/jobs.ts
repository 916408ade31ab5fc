import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimRefused, claimStatus, claimType } from '../claims.ts';
import { creditsOf, finishedJob, pairOf, plainBody } from '../facts.ts';
import { create, idOf, polled, sectionOf, STATUSES, V1, V3 } from './job-calls.ts';

/** How jobs are made and how they are heard (docs/api/jobs.md#v1, docs/api/jobs.md#states and docs/api/jobs.md#v3). */
export const jobs: readonly Behaviour[] = [
  ...[V3, V1].flatMap((path) => creation(path)),
  ...audio(),
];

function creation(path: string): readonly Behaviour[] {
  const base = { section: sectionOf(path), on: `POST ${path}`, spends: true };
  return [
    {
      ...base,
      id: `${idOf(path)}.accepted`,
      what: '202, with the job’s resource in `Location` and seconds in `Retry-After`; the job begins `pending`',
      covers: ['Location', 'Retry-After'],
      async check(service) {
        const answer = await create(service, path);
        const id = String(at(answer.json(), 'task.taskId'));
        assert.equal(
          new URL(answer.header('Location') ?? '', 'http://host').pathname,
          `${path}/${id}`,
        );
        assert.match(answer.header('Retry-After') ?? '', /^\d+$/);
        assert.ok(STATUSES.includes(String(at(answer.json(), 'task.status'))));
      },
    },
    ...(path === V3 ? [ignored()] : []),
    {
      ...base,
      id: `${idOf(path)}.reserved`,
      what: 'Credits are set aside once, when it is accepted',
      section: 'jobs#states',
      async check(service) {
        const before = await creditsOf(service);
        const answer = await create(service, path);
        assert.equal(before - (await creditsOf(service)), Number(at(answer.json(), 'creditsUsed')));
      },
    },
    {
      ...base,
      id: `${idOf(path)}.credits-short.no-job`,
      section: 'errors',
      what: '402: credits are short; no job is made',
      covers: ['ERR_INSUFFICIENT_CREDITS'],
      serve: ['--credits', '10'],
      async check(service) {
        const body = { ...(await plainBody(service)), text: 'a word '.repeat(20) };
        claimRefused(
          await service.ask(`POST ${path}`, { body }),
          402,
          'ERR_INSUFFICIENT_CREDITS',
          service,
        );
        assert.deepEqual(at((await service.ask(`GET ${path}`)).json(), 'items'), []);
      },
    },
    {
      ...base,
      id: `${idOf(path)}.filterEmoji.empty`,
      what: '400 when the filter leaves white space only, before a job is made',
      spends: false,
      async check(service) {
        const body = { ...(await plainBody(service)), text: ' (◕‿◕) ', filterEmoji: true };
        claimRefused(
          await service.ask(`POST ${path}`, { body }),
          400,
          'ERR_INVALID_REQUEST',
          service,
        );
      },
    },
  ];
}

function ignored(): Behaviour {
  return {
    id: 'jobs-v3.ignored',
    section: 'jobs#v3',
    on: `POST ${V3}`,
    what: 'A control that the model has not is ignored, and listed in `ignoredParameters`',
    covers: ['JobAccepted.ignoredParameters'],
    spends: true,
    async check(service) {
      const { voiceId, modelId } = await pairOf(
        service,
        ({ controls }) => controls['pitch'] === false,
      );
      const answer = await create(service, V3, { voiceId, modelId, pitch: 1 });
      assert.deepEqual(at(answer.json(), 'ignoredParameters'), ['pitch']);
    },
  };
}

function audio(): readonly Behaviour[] {
  const base = { section: 'jobs#v3', spends: true };
  return [
    {
      ...base,
      id: 'jobs-v3.audio',
      on: `GET ${V3}/{jobId}/audio`,
      what: 'The audio of the job, which plays',
      async check(service) {
        const answer = await service.ask(`GET ${V3}/${await finishedJob(service)}/audio`);
        claimAudio(answer, /^audio\/mpeg/);
        assert.ok((await service.listen(answer.bytes)) > 200);
      },
    },
    ...[`${V3}/ID/audio`, `${V3}/ID/segments/0`].map((path): Behaviour => ({
      ...base,
      id: `jobs-v3.download.${path.includes('segments') ? 'segment' : 'audio'}`,
      on: `GET ${path.replace('ID', '{jobId}').replace('segments/0', 'segments/{segmentIndex}')}`,
      what: '`download=1` gives the same audio to be saved',
      covers: ['AudioQuery.download'],
      async check(service) {
        const url = `GET ${path.replace('ID', await finishedJob(service))}`;
        const answer = await service.ask(url, { query: { download: 1 } });
        claimAudio(answer);
        assert.match(answer.header('Content-Disposition') ?? '', /^attachment/);
        assert.deepEqual(answer.bytes, (await service.ask(url)).bytes);
      },
    })),
    {
      ...base,
      id: 'jobs-v3.segment',
      on: `GET ${V3}/{jobId}/segments/{segmentIndex}`,
      what: 'The audio of one segment, which plays; one that there is not is 404',
      covers: ['ERR_AUDIO_NOT_FOUND'],
      async check(service) {
        const url = `GET ${V3}/${await finishedJob(service)}/segments`;
        const answer = await service.ask(`${url}/0`);
        claimAudio(answer);
        assert.ok((await service.listen(answer.bytes)) > 200);
        claimRefused(await service.ask(`${url}/99`), 404, 'ERR_AUDIO_NOT_FOUND', service);
      },
    },
    {
      ...base,
      id: 'jobs-v1.audio',
      section: 'jobs#v1',
      on: 'GET /api/open/tts/jobs/{taskId}/audio',
      what: 'Leads to a signed location, which needs no key and gives the audio',
      covers: ['Location', 'AudioQuery.download'],
      async check(service) {
        const url = `GET /api/open/tts/jobs/${await finishedJob(service)}/audio`;
        for (const query of [{}, { download: 1 }]) {
          const answer = await service.ask(url, { query });
          claimStatus(answer, 302, 303, 307);
          const found = await service.ask(`GET ${answer.header('Location')}`, {
            headers: { Authorization: undefined },
          });
          claimAudio(found);
          assert.ok((await service.listen(found.bytes)) > 200);
        }
      },
    },
    {
      ...base,
      id: 'jobs-v1.audio-urls',
      section: 'jobs#v1',
      on: `GET ${V1}/{taskId}`,
      what: 'When audio is ready, `audioUrl` and `playbackUrl` are the route without the version, `downloadUrl` the same with `?download=1`, and `downloadReady` is true',
      async check(service) {
        const id = await finishedJob(service);
        const { task } = Object(await polled(service, V1));
        const url = `/api/open/tts/jobs/${id}/audio`;
        assert.deepEqual(
          [task.audioUrl, task.delivery],
          [url, { playbackUrl: url, downloadUrl: `${url}?download=1`, downloadReady: true }],
        );
        const { playbackUrl } = task.segments[0];
        claimType(playbackUrl, 'id', 'playbackUrl');
        claimAudio(await service.ask(`GET ${playbackUrl}`));
      },
    },
  ];
}
