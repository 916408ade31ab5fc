import { describe, expect, it } from 'vitest';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import type { FaultRule, FaultWhen, JobFault } from '../../../src/service/http/faults.ts';
import { segmentText } from '../../../src/service/jobs/job-service.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { jsonPost } from '../support/test-service.ts';
import { BODY, GRANT, JOBS, JOBS_V1, jobService, paragraphs } from './job-service.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

function jobRule(outcome: JobFault, when: FaultWhen = { kind: 'always' }, path = JOBS): FaultRule {
  return { method: 'POST', path, effect: { kind: 'job', outcome }, when };
}

describe('a rule of job=fail', () => {
  it('lets an accepted job fail, and what was set aside is given back', async () => {
    const service = await jobService({ faults: [jobRule('fail')] });
    const task = await service.ended(await service.create());
    expect(task).toMatchObject({
      status: 'fail',
      creditsUsed: 0,
      audioUrl: null,
      error: { code: 'ERR_GENERATION_FAILED' },
    });
    expect(await service.balance()).toEqual({ credits: GRANT, quota: GRANT });
    verifyLedger(service.store, { full: true });
  });

  it('counts accepted jobs: no replays, no refused creates', async () => {
    const faults = [jobRule('fail', { kind: 'every', every: 2 })];
    const { call, create, ended } = await jobService({ faults });
    const key = { 'Idempotency-Key': 'k' };
    const first = await create({}, key);
    expect(await create({}, key)).toBe(first);
    expect((await call(JOBS, jsonPost({ ...BODY, text: '' }))).status).toBe(400);
    expect((await call(JOBS, jsonPost({ ...BODY, speed: 2 }, key))).status).toBe(409);
    const others = [await create(), await create(), await create()];
    const ends = await Promise.all([first, ...others].map((id) => ended(id)));
    expect(ends.map(({ status }) => status)).toEqual(['success', 'fail', 'success', 'fail']);
  });

  it('is counted exactly when many come at once', async () => {
    const faults = [jobRule('fail', { kind: 'first', times: 5 })];
    const { create, ended } = await jobService({ faults });
    const ids = await Promise.all(Array.from({ length: 12 }, () => create()));
    const ends = await Promise.all(ids.map((id) => ended(id)));
    expect(ends.filter(({ status }) => status === 'fail')).toHaveLength(5);
  });

  it('goes by the path of the create', async () => {
    const faults = [jobRule('fail', { kind: 'always' }, '/api/open/v1/**')];
    const { call, create, ended } = await jobService({ faults });
    const made = await call(JOBS_V1, jsonPost(BODY));
    const { taskId } = Object(await made.json()).task;
    expect(await ended(String(taskId))).toMatchObject({
      status: 'fail',
      segments: [{ status: 'fail' }],
    });
    expect((await ended(await create())).status).toBe('success');
  });

  it('applies whichever process finishes the job', async () => {
    const first = await jobService({ faults: [jobRule('fail')] });
    const release = first.directed.holdAt('Hello');
    const id = await first.create();
    await first.service.close(AbortSignal.abort());
    release();
    const { store, clock } = first;
    const next = await jobService({ store, clock, faults: [] });
    expect((await next.ended(id)).status).toBe('fail');
  });
});

describe('a rule of job=partial_fail', () => {
  it('lets the last segment fail, and leaves the rest to be heard and paid', async () => {
    const service = await jobService({ faults: [jobRule('partial_fail')] });
    const text = paragraphs('One', 'Two', 'Three');
    const id = await service.create({ text });
    const task = await service.ended(id);
    expect(task.status).toBe('partial_fail');
    expect(task.segments.map(({ status }) => status)).toEqual(['success', 'success', 'fail']);
    const paid = task.segments.slice(0, 2).reduce((sum, { characters }) => sum + characters, 0);
    expect(task.creditsUsed).toBe(paid);
    expect((await service.balance()).credits).toBe(GRANT - paid);
    const audio = await service.bytes(task.audioUrl ?? '');
    expect((await decodeAudio(audio)).durationMs).toBe(task.durationMs);
    verifyLedger(service.store, { full: true });
  });

  it.each(['mp3', 'wav', 'ogg'] as const)(
    'cuts a text of one segment in two, so that there is a part, in %s',
    async (format) => {
      const { create, ended, bytes } = await jobService({ faults: [jobRule('partial_fail')] });
      const task = await ended(await create({ text: 'Hello there, good friend.', format }));
      expect(task.status).toBe('partial_fail');
      expect(task.segments.map(({ status }) => status)).toEqual(['success', 'fail']);
      expect(task.creditsUsed).toBe('Hello there, '.length);
      const audio = await bytes(task.audioUrl ?? '');
      expect(verifyBytes(format, audio)).toMatchObject({ complete: true });
    },
  );

  it('fails altogether where there is no part', async () => {
    const { create, ended } = await jobService({ faults: [jobRule('partial_fail')] });
    expect((await ended(await create({ text: 'I' }))).status).toBe('fail');
  });
});

describe('a text of at least two segments', () => {
  it.each([
    ['Hello there.', ['Hello ', 'there.']],
    ['Hello', ['Hel', 'lo']],
    ['a 😀 b', ['a ', '😀 b']],
    ['one two three — —', ['one two ', 'three — —']],
    ['I', ['I']],
    ['', []],
  ])('%j', (text, parts) => {
    expect(segmentText(text, 2).map((segment) => segment.text)).toEqual(parts);
  });
});
