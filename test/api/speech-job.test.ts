import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHeaders } from '../../src/api/response.ts';
import { readSpeechJob } from '../../src/api/resources/jobs.ts';

function read(raw: unknown, headers: Record<string, string> = {}, known?: string) {
  const all = new Map(Object.entries(headers));
  const answer = { raw, headers: readHeaders(all), requestId: 'sent', retryAfterMs: undefined };
  return readSpeechJob('v3', answer, known);
}

describe('a job in a response', () => {
  it('of v3 is read, with unknown fields', () => {
    const raw = {
      task: { taskId: 't', status: 'pending', voiceId: 'v', modelId: 'm', format: 'ogg', new: 1 },
      requestId: 'r',
      quotaRemaining: 5,
      creditsUsed: 3,
      ignoredParameters: ['pitch'],
      more: {},
    };
    expect(read(raw)).toEqual({
      id: 't',
      api: 'v3',
      status: 'pending',
      phase: 'running',
      retryAfterMs: undefined,
      requestId: 'r',
      creditsUsed: 3,
      quotaRemaining: 5,
      ignoredParameters: ['pitch'],
      format: 'ogg',
      segments: [],
      error: undefined,
      raw,
    });
  });

  it('of v1 has its task id', () => {
    const task = { id: 'record', taskId: 'task', status: 'success', delivery: {} };
    const segments = [{ playbackUrl: '/0' }, { index: 7, status: 'success', playbackUrl: '/7' }];
    const job = read({ task: { ...task, segments }, record: { id: 'record', status: 'success' } });
    expect(job).toMatchObject({ id: 'task', phase: 'success', ignoredParameters: undefined });
    expect(job?.segments).toEqual([
      { index: 0, status: undefined, audioUrl: '/0' },
      { index: 7, status: 'success', audioUrl: '/7' },
    ]);
  });

  it.each([
    ['an id of another name', { task: { id: 'x', status: 'done' } }, {}, 'x'],
    ['the record alone', { record: { id: 'x', status: 'done' } }, {}, 'x'],
    ['no envelope', { taskId: 'x', status: 'done' }, {}, 'x'],
    ['its place alone', undefined, { location: '/api/open/v3/speech/tts/jobs/a%2Fb' }, 'a/b'],
    ['a whole address', {}, { location: 'https://h/v3/speech/tts/jobs/x/?y=z' }, 'x'],
  ])('is identified by %s', (_name, raw, headers, id) => {
    expect(read(raw, headers)?.id).toBe(id);
  });

  it.each([
    ['nothing', undefined, undefined],
    ['no id', { task: { status: 'pending' } }, undefined],
    ['no status in a poll', { task: { taskId: 'x' } }, 'x'],
    ['a status that is none in a poll', { task: { taskId: 'x', status: 7 } }, 'x'],
    ['a list', [], undefined],
  ])('is missing with %s', (_name, raw, known) => {
    expect(read(raw, {}, known)).toBeUndefined();
  });

  it('is pending when a create response names only its id', () => {
    expect(read({ task: { taskId: 7 } })).toMatchObject({ id: '7', status: 'pending' });
  });

  it.each([
    ['an object', { error: { code: 'C', message: 'm' } }, { code: 'C', message: 'm' }],
    ['a sentence', { error: 'because' }, { code: undefined, message: 'because' }],
    ['fields of its own', { errorCode: 'C' }, { code: 'C', message: undefined }],
    ['nothing', { error: null }, undefined],
  ])('has its error as %s', (_name, more, expected) => {
    expect(read({ task: { taskId: 'x', status: 'fail', ...more } })?.error).toEqual(expected);
  });

  it('never throws for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.option(fc.string()), (raw, location, known) => {
        const job = read({ task: raw }, { location }, known ?? undefined);
        expect(job === undefined || typeof job.id === 'string').toBe(true);
      }),
    );
  });
});
