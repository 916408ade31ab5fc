import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { system } from '../../../src/system/system.ts';
import { outputFailure } from '../../../src/durable/file-failures.ts';
import type { AudioFolder } from '../../../src/service/speech/audio-files.ts';
import { createAudioFolder } from '../../../src/service/speech/audio-files.ts';
import { amountsIn } from '../../../src/service/ledger/ledger.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { manualClock } from '../../api/manual-clock.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import type { TestService } from '../support/test-service.ts';
import type { Task } from './job-service.ts';
import { BODY, GRANT, JOBS, jobService, paragraphs } from './job-service.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

/** Words of 20 ms, three in each of 40 sentences. */
const SEGMENT_MS = 3 * 40 * 20;

async function samplesOf(bytes: Buffer): Promise<Float32Array> {
  const { channels } = await decodeAudio(bytes);
  return channels[0] ?? new Float32Array(0);
}

function statuses(task: Task): readonly string[] {
  return task.segments.map(({ status }) => status);
}

function booksOf({ store }: Pick<TestService, 'store'>) {
  verifyLedger(store, { full: true });
  const [reserved, spent] = store.read((db) => [
    amountsIn(db, 'first', 'reserved'),
    amountsIn(db, 'first', 'spent'),
  ]);
  return { reserved, spent };
}

function enospc(): Error {
  return Object.assign(new Error('no space left'), { code: 'ENOSPC' });
}

const amounts = (credits: number, quota = credits) => ({ credits, quota });

describe('a job that succeeds', () => {
  it.each(['mp3', 'wav', 'ogg'] as const)('has whole and exact audio in %s', async (format) => {
    const { create, ended, bytes } = await jobService();
    const id = await create({ format, text: paragraphs('One', 'Two', 'Three') });
    const task = await ended(id);
    expect(task).toMatchObject({ status: 'success', durationMs: 3 * SEGMENT_MS, error: null });
    expect(statuses(task)).toEqual(['success', 'success', 'success']);
    const whole = await bytes(`${JOBS}/${id}/audio`);
    expect(verifyBytes(format, whole)).toMatchObject({ complete: true, endIsProven: true });
    const { durationMs } = await decodeAudio(whole);
    expect(durationMs).toBe(3 * SEGMENT_MS);
    for (const { audioUrl } of task.segments) {
      const segment = await decodeAudio(await bytes(audioUrl ?? ''));
      expect(segment.durationMs).toBe(SEGMENT_MS);
    }
  });

  it('sounds as if it had been spoken at once, and as its segments one after the other', async () => {
    const { create, ended, bytes, speak } = await jobService();
    const text = paragraphs('One', 'Seventeen', 'Three');
    const { segments, audioUrl } = await ended(await create({ text, volume: 3 }));
    const whole = await samplesOf(await bytes(audioUrl ?? ''));
    const parts: number[] = [];
    for (const segment of segments) {
      parts.push(...(await samplesOf(await bytes(segment.audioUrl ?? ''))));
    }
    expect([...whole]).toEqual(parts);
    const once = await speak({ ...BODY, text, volume: 3 });
    const stream = Buffer.from(await once.arrayBuffer());
    expect(whole.length * 2).toBe(stream.length - 44);
    expect((await bytes(audioUrl ?? '')).subarray(44)).toEqual(stream.subarray(44));
  });

  it('spends what was set aside, once', async () => {
    const service = await jobService();
    const release = service.directed.holdAt('Hello');
    const id = await service.create();
    expect(booksOf(service)).toEqual({ reserved: amounts(13), spent: amounts(0) });
    release();
    expect(await service.ended(id)).toMatchObject({ creditsUsed: 13 });
    expect(booksOf(service)).toEqual({ reserved: amounts(0), spent: amounts(13) });
  });

  it('shows each segment as soon as it is spoken', async () => {
    const { create, directed, task, bytes, call } = await jobService();
    const release = directed.holdAt('Two');
    const id = await create({ text: paragraphs('One', 'Two') });
    await expect.poll(async () => statuses(await task(id))).toEqual(['success', 'pending']);
    expect(await task(id)).toMatchObject({
      status: 'processing',
      audioUrl: null,
      finishedAt: null,
    });
    const first = await decodeAudio(await bytes(`${JOBS}/${id}/segments/0`));
    expect(first.durationMs).toBe(SEGMENT_MS);
    expect((await call(`${JOBS}/${id}/segments/1`)).status).toBe(404);
    release();
  });

  it('leaves out what cannot be said, and charges it as in a longer text', async () => {
    const service = await jobService();
    const text = paragraphs('One') + `${'— '.repeat(400)}\n\n` + paragraphs('Three');
    const task = await service.ended(await service.create({ text }));
    expect(statuses(task)).toEqual(['success', 'skipped', 'success']);
    expect(task).toMatchObject({ status: 'success', durationMs: 2 * SEGMENT_MS });
    expect(task.segments[1]).toMatchObject({ durationMs: null, audioUrl: null });
    expect(booksOf(service).spent).toEqual(amounts(text.length));
  });

  it('keeps only files that an endpoint needs', async () => {
    const { create, ended, dataDir } = await jobService();
    const one = await create();
    const several = await create({ text: paragraphs('One', 'Two') });
    await ended(one);
    await ended(several);
    expect(await readdir(join(dataDir, 'audio', one))).toEqual(['segment-0.wav']);
    const files = await readdir(join(dataDir, 'audio', several));
    expect(files.sort()).toEqual(['audio.wav']);
    const encoded = await create({ text: paragraphs('One', 'Two'), format: 'mp3' });
    await ended(encoded);
    const others = await readdir(join(dataDir, 'audio', encoded));
    expect(others.sort()).toEqual(['audio.mp3', 'segment-0.pcm', 'segment-1.pcm']);
  });
});

describe('a job that succeeds in part', () => {
  it('has audio of the rest, and costs no more than that', async () => {
    const service = await jobService();
    service.directed.failAt('Two');
    const text = paragraphs('One', 'Two', 'Three');
    const task = await service.ended(
      await service.create({ text, modelId: 'vendor-s21pro-flash' }),
    );
    expect(statuses(task)).toEqual(['success', 'fail', 'success']);
    const [first, , last] = task.segments.map(({ characters }) => characters);
    const quota = (first ?? 0) + (last ?? 0);
    const credits = Math.ceil((Math.ceil(text.length / 2) * quota) / text.length);
    expect(task).toMatchObject({
      status: 'partial_fail',
      durationMs: 2 * SEGMENT_MS,
      creditsUsed: credits,
      error: null,
    });
    const { durationMs } = await decodeAudio(await service.bytes(task.audioUrl ?? ''));
    expect(durationMs).toBe(2 * SEGMENT_MS);
    expect((await service.call(`${JOBS}/${task.taskId}/segments/1`)).status).toBe(404);
    expect(booksOf(service)).toEqual({ reserved: amounts(0), spent: amounts(credits, quota) });
    expect(await service.balance()).toEqual(amounts(GRANT - credits, GRANT - quota));
  });

  it('is reported to the operator, without internals of the engine for the client', async () => {
    const { create, directed, ended, events, call } = await jobService();
    directed.failAt('Two');
    const id = await create({ text: paragraphs('One', 'Two') });
    await ended(id);
    const failures = events.filter((event) => event.type === 'failure');
    expect(failures).toMatchObject([{ requestId: id, error: { reason: 'failed' } }]);
    expect(await (await call(`${JOBS}/${id}`)).text()).not.toContain('secret');
  });
});

describe('a job that fails', () => {
  it.each([
    ['the engine breaks', paragraphs('One', 'Two'), 'ERR_GENERATION_FAILED'],
    ['a short text cannot be spoken', 'One. Two.', 'ERR_GENERATION_FAILED'],
    [
      'there is nothing to say',
      `${'— '.repeat(400)}\n\n${'… '.repeat(300)}`,
      'ERR_INVALID_REQUEST',
    ],
  ])('because %s has no audio, and is refunded', async (_name, text, code) => {
    const service = await jobService();
    service.directed.failAt('One');
    service.directed.failAt('Two');
    const id = await service.create({ text });
    expect(await service.ended(id)).toMatchObject({
      status: 'fail',
      creditsUsed: 0,
      audioUrl: null,
      durationMs: null,
      error: { code, message: expect.any(String) },
    });
    expect((await service.call(`${JOBS}/${id}/audio`)).status).toBe(404);
    expect(booksOf(service)).toEqual({ reserved: amounts(0), spent: amounts(0) });
    expect(await service.balance()).toEqual(amounts(GRANT));
  });

  it.each(['segment-1', 'audio'])('because %s cannot be stored is refunded', async (name) => {
    const store = (await jobService()).store;
    const folder = createAudioFolder(store.path, { ...system, clock: manualClock() });
    const create: AudioFolder['create'] = (owner, file) => {
      if (file.startsWith(name)) throw outputFailure(file, enospc(), 'writing');
      return folder.create(owner, file);
    };
    const service = await jobService({ store, audio: { ...folder, create } });
    const task = await service.ended(await service.create({ text: paragraphs('One', 'Two') }));
    const error = { code: 'ERR_STORAGE_FULL', message: expect.stringContaining('disk') };
    expect(task).toMatchObject({ status: 'fail', creditsUsed: 0, audioUrl: null, error });
    expect(task.segments[0]).toMatchObject({ status: 'success', audioUrl: null });
    expect((await service.call(`${JOBS}/${task.taskId}/segments/0`)).status).toBe(404);
    expect(booksOf(service)).toEqual({ reserved: amounts(0), spent: amounts(0) });
  });

  it('does not hold up the next one', async () => {
    const { create, directed, ended } = await jobService();
    directed.failAt('One');
    const ids = [await create({ text: 'One.' }), await create(), await create({ text: 'One.' })];
    const ends = await Promise.all(ids.map((id) => ended(id)));
    expect(ends.map(({ status }) => status)).toEqual(['fail', 'success', 'fail']);
  });
});
