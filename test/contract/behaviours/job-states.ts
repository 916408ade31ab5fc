import assert from 'node:assert/strict';
import type { Behaviour } from '../behaviour.ts';
import { at, claimAudio, claimRefused, claimStatus } from '../claims.ts';
import { creditsOf, endOf, finishedJob, isOfFamily, pairOf, TEXT, voicesOf } from '../facts.ts';
import { NotApplicable } from '../service-under-test.ts';
import { create, created, V1, V3 } from './job-calls.ts';

const DEFAULTS: Readonly<Record<string, string>> = {
  vendor: 'vendor-s21pro-flash',
  altA: 'altA-2.8-turbo',
  altB: 'altB3-tts-flash',
  altC: 'altC-v3-flash',
  altD: 'altD-tts-2.0',
  // The spec names none for altE and altF.
  altE: '',
  altF: '',
};

/** What becomes of a job, and who may see it (docs/api/README.md). */
export const jobStates: readonly Behaviour[] = [
  ...outcomes(),
  ...['vendor', 'altA', 'altB', 'altC', 'altD', 'altE', 'altF'].map((family) => defaultOf(family)),
  ...[V3, V1].map((path) => unknown(path)),
  ...[
    `${V3}/ID`,
    `${V3}/ID/audio`,
    `${V3}/ID/segments/0`,
    `${V1}/ID`,
    '/api/open/tts/jobs/ID/audio',
  ].map((path) => foreign(path)),
];

function fault(outcome: string): readonly string[] {
  return ['--fault', `POST ${V3}; job=${outcome}`];
}

function outcomes(): readonly Behaviour[] {
  const base = { section: 'jobs#states', on: `GET ${V3}/{jobId}`, spends: true };
  return [
    {
      ...base,
      id: 'jobs.success',
      what: 'A job ends as `success`, and its state never changes after that',
      async check(service) {
        const id = await finishedJob(service);
        const job = at((await service.ask(`GET ${V3}/${id}`)).json(), 'task');
        assert.deepEqual(at((await service.ask(`GET ${V3}/${id}`)).json(), 'task'), job);
      },
    },
    {
      ...base,
      id: 'jobs.fail',
      what: '`fail`: there is no audio, and what was set aside is given back, once',
      serve: fault('fail'),
      async check(service) {
        const before = await creditsOf(service);
        const id = String(at(await created(service, V3), 'task.taskId'));
        assert.equal(await endOf(service, id), 'fail');
        assert.equal(await creditsOf(service), before);
        claimRefused(
          await service.ask(`GET ${V3}/${id}/audio`),
          404,
          'ERR_AUDIO_NOT_FOUND',
          service,
        );
      },
    },
    {
      ...base,
      id: 'jobs.partial_fail',
      what: '`partial_fail`: some segments failed; partial audio is ready',
      serve: fault('partial_fail'),
      async check(service) {
        const text = 'The ferry left the harbor before sunrise. Nobody had heard the bell.';
        const id = String(at((await create(service, V3, { text })).json(), 'task.taskId'));
        assert.equal(await endOf(service, id), 'partial_fail');
        const answer = await service.ask(`GET ${V3}/${id}/audio`);
        claimAudio(answer);
        assert.ok((await service.listen(answer.bytes)) > 200);
      },
    },
    {
      ...base,
      id: 'jobs.same-in-both',
      section: 'versions',
      on: `GET ${V1}/{taskId}`,
      what: 'A job is known in both versions',
      async check(service) {
        const id = await finishedJob(service);
        assert.equal(at((await service.ask(`GET ${V1}/${id}`)).json(), 'task.taskId'), id);
      },
    },
  ];
}

function unknown(path: string): Behaviour {
  return {
    id: `${path === V3 ? 'jobs-v3' : 'jobs-v1'}.unknown`,
    section: 'errors',
    on: `GET ${path}/{jobId}`,
    what: '404: a job that there is not',
    covers: ['ERR_JOB_NOT_FOUND'],
    check: async (service) =>
      claimRefused(await service.ask(`GET ${path}/nothing`), 404, 'ERR_JOB_NOT_FOUND', service),
  };
}

function foreign(path: string): Behaviour {
  return {
    id: `jobs.foreign.${path.replace('/api/open/', '').replaceAll('/', '-')}`,
    section: 'authentication',
    on: `GET ${path.replace('ID', '{jobId}').replace('segments/0', 'segments/{segmentIndex}')}`,
    what: '404: a job of another account',
    covers: ['ERR_JOB_NOT_FOUND'],
    spends: true,
    async check(service) {
      const { otherKey } = service;
      if (otherKey === undefined) throw new NotApplicable('there is one account only');
      const id = await finishedJob(service);
      const headers = { Authorization: `Bearer ${otherKey}` };
      const answer = await service.ask(`GET ${path.replace('ID', id)}`, { headers });
      claimRefused(answer, 404, 'ERR_JOB_NOT_FOUND', service);
    },
  };
}

function defaultOf(family: string): Behaviour {
  const named = DEFAULTS[family] ?? '';
  return {
    id: `family.${family}.default`,
    section: 'models',
    on: `POST ${V3}`,
    what: `Without \`modelId\` a voice of ${family} speaks with ${named === '' ? 'a model that it lists' : named}`,
    spends: true,
    async check(service) {
      const { voiceId } = await pairOf(service, isOfFamily(family));
      const answer = await service.ask(`POST ${V3}`, { body: { text: TEXT, voiceId } });
      claimStatus(answer, 202);
      const modelId = String(at(answer.json(), 'task.modelId'));
      const voice = (await voicesOf(service)).find((one) => one.voiceId === voiceId);
      assert.ok(voice?.modelIds.includes(modelId));
      if (named !== '') assert.equal(modelId, named);
    },
  };
}
