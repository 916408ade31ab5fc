import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Liveness, Processes } from '../../../src/system/processes.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { EngineRegistry } from '../../../src/service/engine/speech-engine.ts';
import { MAX_ATTEMPTS } from '../../../src/service/jobs/lifecycle.ts';
import { StoreError } from '../../../src/service/store/open-store.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { toneEngine } from '../support/tone-engine.ts';
import type { JobService } from './job-service.ts';
import { GRANT, JOBS, jobService, paragraphs } from './job-service.ts';

const TWO = paragraphs('One', 'Two');

/** Sees every other process as this says. */
function seeing(liveness: Liveness | (() => Liveness)): Processes {
  const { self } = systemProcesses();
  return { self, liveness: typeof liveness === 'function' ? liveness : () => liveness };
}

/** A service that is at the second of two segments. */
async function inTheMiddle(): Promise<JobService & { id: string; release: () => void }> {
  const service = await jobService();
  const release = service.directed.holdAt('Two');
  const id = await service.create({ text: TWO });
  await expect.poll(service.directed.held).toBe(1);
  return { ...service, id, release };
}

async function isCharged(service: JobService, credits: number): Promise<void> {
  verifyLedger(service.store, { full: true });
  expect((await service.balance()).credits).toBe(GRANT - credits);
}

function owners({ store }: JobService): number {
  return store.read((db) => db.all('SELECT 1 FROM owner')).length;
}

describe('a job whose process is gone', () => {
  it('is finished by the next, from the first segment that was not spoken', async () => {
    const { store, id, release, directed } = await inTheMiddle();
    const next = await jobService({ store, processes: seeing('dead') });
    expect(await next.ended(id)).toMatchObject({ status: 'success' });
    expect(next.directed.texts).toEqual([paragraphs('Two')]);
    const whole = await next.bytes(`${JOBS}/${id}/audio`);
    expect((await decodeAudio(whole)).durationMs).toBe(2 * 40 * 3 * 20);
    await isCharged(next, TWO.length);
    release();
    await expect.poll(directed.held).toBe(0);
    expect(await next.task(id)).toMatchObject({ status: 'success' });
    expect(await next.bytes(`${JOBS}/${id}/audio`)).toEqual(whole);
    await isCharged(next, TWO.length);
    expect(owners(next)).toBe(1);
  });

  it('is left to it while it lives, however long', async () => {
    const { store, id } = await inTheMiddle();
    const next = await jobService({ store, processes: seeing('alive') });
    next.clock.advance(24 * 3_600_000);
    expect(await next.task(id)).toMatchObject({ status: 'processing' });
    expect(next.directed.texts).toEqual([]);
  });

  it('is resumed by the process that is polled for it', async () => {
    const { store, id } = await inTheMiddle();
    let liveness: Liveness = 'alive';
    const next = await jobService({ store, processes: seeing(() => liveness) });
    expect(await next.task(id)).toMatchObject({ status: 'processing' });
    liveness = 'dead';
    expect(await next.ended(id)).toMatchObject({ status: 'success' });
    await isCharged(next, TWO.length);
  });

  it('is resumed by a process that scans for orphaned jobs', async () => {
    const { store } = await inTheMiddle();
    let liveness: Liveness = 'alive';
    const next = await jobService({ store, processes: seeing(() => liveness) });
    next.clock.advance(15_000);
    expect(next.directed.texts).toEqual([]);
    liveness = 'dead';
    next.clock.advance(15_000);
    await expect.poll(() => next.directed.texts).toEqual([paragraphs('Two')]);
  });

  it('is taken up when the lease has run out, where nothing else can be known', async () => {
    const { store, id } = await inTheMiddle();
    const next = await jobService({ store, processes: seeing('unknown') });
    next.clock.advance(120_000);
    expect(await next.task(id)).toMatchObject({ status: 'processing' });
    expect(next.directed.texts).toEqual([]);
    next.clock.advance(15_000);
    expect(await next.ended(id)).toMatchObject({ status: 'success' });
  });

  it('is kept by a lease that its process renews', async () => {
    const { store, clock, id } = await inTheMiddle();
    clock.advance(30_000);
    clock.advance(30_000);
    const next = await jobService({ store, processes: seeing('unknown') });
    next.clock.advance(180_000);
    expect(await next.task(id)).toMatchObject({ status: 'processing' });
    expect(next.directed.texts).toEqual([]);
  });

  it('is given up when it may be the reason, and refunded', async () => {
    const { store, id } = await inTheMiddle();
    store.write((db) => db.run('UPDATE job SET attempts = ?', [MAX_ATTEMPTS]));
    const next = await jobService({ store, processes: seeing('dead') });
    expect(await next.ended(id)).toMatchObject({ status: 'fail', creditsUsed: 0 });
    expect(next.directed.texts).toEqual([]);
    await isCharged(next, 0);
  });

  it('is refunded when its voice is gone too', async () => {
    const { store, id } = await inTheMiddle();
    const engine = toneEngine();
    const voices = engine.voices.filter((voice) => voice.id !== 'clara');
    const engines = new EngineRegistry([{ ...engine, voices }]);
    const next = await jobService({ store, engines, processes: seeing('dead') });
    expect(await next.ended(id)).toMatchObject({ status: 'fail', creditsUsed: 0 });
    await isCharged(next, 0);
  });

  it('leaves nothing half written behind', async () => {
    const { store, id, dataDir } = await inTheMiddle();
    const folder = join(dataDir, 'audio', id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `.foley-${'a'.repeat(24)}.part`), 'half');
    const next = await jobService({ store, processes: seeing('dead') });
    await next.ended(id);
    const files = await readdir(folder);
    expect(files.sort()).toEqual(['audio.wav']);
  });

  it('is finished without making again what was already whole', async () => {
    const { store, id, dataDir, ended, bytes, directed, release } = await inTheMiddle();
    release();
    await ended(id);
    const whole = await bytes(`${JOBS}/${id}/audio`);
    // As if it had died between the last file and the last word about it.
    store.write((db) => {
      db.run("UPDATE job SET status = 'processing', finished_at = NULL");
      db.run("UPDATE reservation SET state = 'reserved'");
      db.run(
        "DELETE FROM ledger_entry WHERE transaction_id IN (SELECT id FROM ledger_transaction WHERE kind = 'commit')",
      );
      db.run("DELETE FROM ledger_transaction WHERE kind = 'commit'");
      db.run("UPDATE balance SET amount = ? WHERE book = 'reserved'", [TWO.length]);
      db.run("UPDATE balance SET amount = 0 WHERE book = 'spent'");
    });
    const spoken = directed.texts.length;
    await writeFile(join(dataDir, 'audio', id, `.foley-${'b'.repeat(24)}.part`), 'half');
    const next = await jobService({ store, processes: seeing('dead') });
    expect(await next.ended(id)).toMatchObject({ status: 'success' });
    expect([directed.texts.length, next.directed.texts.length]).toEqual([spoken, 0]);
    expect(await next.bytes(`${JOBS}/${id}/audio`)).toEqual(whole);
    const files = await readdir(join(dataDir, 'audio', id));
    expect(files.sort()).toEqual(['audio.wav']);
    await isCharged(next, TWO.length);
  });
});

describe('several services on one data directory', () => {
  it('finish each job that was left exactly once', async () => {
    const first = await jobService();
    first.directed.holdAt('said');
    const texts = Array.from({ length: 12 }, (_, number) => `Number ${number} is said.`);
    const ids = [];
    for (const text of texts) ids.push(await first.create({ text }));
    await expect.poll(first.directed.held).toBe(2);
    const others = await Promise.all(
      ['b', 'c', 'd'].map(() => jobService({ store: first.store, processes: seesDead(first) })),
    );
    for (const id of ids) {
      expect(await others[0]?.ended(id)).toMatchObject({ status: 'success' });
    }
    const spoken = others.flatMap(({ directed }) => directed.texts);
    expect(spoken.toSorted()).toEqual(texts.toSorted());
    await isCharged(first, texts.join('').length);
  });

  it('each work on their own', async () => {
    const one = await jobService();
    const other = await jobService({ store: one.store, processes: seeing('alive') });
    const ids = [await one.create({ text: 'One.' }), await other.create({ text: 'Two.' })];
    for (const id of ids) await one.ended(id);
    expect([one.directed.texts, other.directed.texts]).toEqual([['One.'], ['Two.']]);
    expect(Object(await (await one.call(JOBS)).json()).items).toHaveLength(2);
  });
});

/** The first service is dead to the others, which are alive to each other. */
function seesDead({ store }: JobService): Processes {
  const dead = store.read((db) => db.all('SELECT id FROM owner')).length;
  const { self } = systemProcesses();
  const others = { ...self, pid: self.pid + dead };
  return { self: others, liveness: ({ pid }) => (pid === self.pid ? 'dead' : 'alive') };
}

describe('a service that closes', () => {
  it('finishes the jobs that it accepted, says so, and takes no more', async () => {
    const { service, directed, events, call, store, id, release } = await inTheMiddle();
    const waiting = service.close();
    expect((await call(`${JOBS}/${id}`)).status).toBe(503);
    expect(events).toContainEqual({ type: 'finishing-jobs', count: 1 });
    expect(directed.held()).toBe(1);
    release();
    await waiting;
    expect(events.some(({ type }) => type === 'jobs-left')).toBe(false);
    const next = await jobService({ store });
    expect(await next.task(id)).toMatchObject({ status: 'success' });
    expect(owners(next)).toBe(0);
  });

  it('waits for so long only, and leaves the rest to the next, which is no attempt', async () => {
    const service = await jobService({ graceMs: 60_000 });
    service.directed.holdAt('One');
    const ids = [];
    for (const text of ['One.', 'One again.', 'Three.']) ids.push(await service.create({ text }));
    await expect.poll(service.directed.held).toBe(2);
    const waiting = service.service.close();
    service.clock.advance(59_999);
    expect(service.events.some(({ type }) => type === 'jobs-left')).toBe(false);
    service.clock.advance(1);
    await waiting;
    expect(service.events).toContainEqual({ type: 'jobs-left', count: 3 });
    const left = service.store.read((db) =>
      db.all('SELECT status, attempts, owner_id FROM job ORDER BY number'),
    );
    expect(left).toEqual(left.map(() => ({ status: 'pending', attempts: 0, owner_id: null })));
    expect(owners(service)).toBe(0);
    const next = await jobService({ store: service.store });
    for (const id of ids) expect(await next.ended(id)).toMatchObject({ status: 'success' });
    await isCharged(next, 'One.One again.Three.'.length);
  });

  it('waits no longer once it is hurried', async () => {
    const { service, events, store, id } = await inTheMiddle();
    const hurry = new AbortController();
    const waiting = service.close(hurry.signal);
    hurry.abort();
    await waiting;
    expect(events).toContainEqual({ type: 'jobs-left', count: 1 });
    const next = await jobService({ store });
    expect(await next.ended(id)).toMatchObject({ status: 'success' });
    expect(next.directed.texts).toEqual([paragraphs('Two')]);
  });

  it('is not held up by jobs that it only found', async () => {
    const { store, service, create, directed } = await jobService();
    directed.holdAt('said');
    for (const word of ['One', 'Two', 'Three', 'Four']) await create({ text: `${word} is said.` });
    const hurried = AbortSignal.abort();
    await service.close(hurried);
    const next = await jobService({ store });
    const release = next.directed.holdAt('said');
    await expect.poll(next.directed.held).toBe(2);
    const waiting = next.service.close();
    release();
    await waiting;
    expect(next.directed.texts.toSorted()).toEqual(['One is said.', 'Two is said.']);
    const statuses = store.read((db) => db.all('SELECT status FROM job ORDER BY number'));
    expect(statuses.map((row) => row['status'])).toEqual(['done', 'done', 'pending', 'pending']);
  });

  it('with nothing to do ends at once, and leaves no owner', async () => {
    const { service, create, ended, events, store } = await jobService();
    await ended(await create());
    await service.close();
    expect(events.some(({ type }) => type === 'finishing-jobs')).toBe(false);
    expect(store.read((db) => db.all('SELECT 1 FROM owner'))).toEqual([]);
  });
});

describe('a database that is held for a while', () => {
  it('delays what is written of a job, and loses nothing', async () => {
    const { store } = await jobService();
    let held = 0;
    const write: typeof store.write = (work) => {
      held -= 1;
      if (held >= 0) throw new StoreError('locked', store.path, 'the database is held');
      return store.write(work);
    };
    const service = await jobService({ store: { ...store, write } });
    const release = service.directed.holdAt('Two');
    const id = await service.create({ text: TWO });
    await expect.poll(service.directed.held).toBe(1);
    held = 3;
    release();
    expect(await service.ended(id)).toMatchObject({ status: 'success' });
    expect(service.directed.texts).toHaveLength(2);
    expect(service.clock.slept).toEqual([500, 500, 500]);
  });

  it('for too long leaves the job to be taken up again', async () => {
    const { store } = await jobService();
    let isHeld = false;
    const write: typeof store.write = (work) => {
      if (isHeld) throw new StoreError('locked', store.path, 'the database is held');
      return store.write(work);
    };
    const service = await jobService({ store: { ...store, write } });
    const release = service.directed.holdAt('Two');
    const id = await service.create({ text: TWO });
    await expect.poll(service.directed.held).toBe(1);
    isHeld = true;
    release();
    await expect.poll(() => service.events.some(({ type }) => type === 'failure')).toBe(true);
    isHeld = false;
    service.clock.advance(15_000);
    expect(await service.ended(id)).toMatchObject({ status: 'success' });
    expect(service.directed.texts).toEqual([
      paragraphs('One'),
      paragraphs('Two'),
      paragraphs('Two'),
    ]);
    await isCharged(service, TWO.length);
  });
});
