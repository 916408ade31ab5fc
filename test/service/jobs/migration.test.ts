import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { Check } from 'typebox/schema';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { systemFiles } from '../../../src/effects/file-system.ts';
import { systemProcesses } from '../../../src/effects/processes.ts';
import { systemRandom } from '../../../src/effects/random.ts';
import {
  commit,
  commitPart,
  ensureAccount,
  grant,
  refund,
  reserve,
  verifyLedger,
} from '../../../src/service/ledger/ledger.ts';
import type { RunTask } from '../../../src/service/media/child/run-task.ts';
import { fingerprintOf } from '../../../src/service/operations/operations.ts';
import type { Connection, SqlValue } from '../../../src/service/store/connection.ts';
import { createConnection } from '../../../src/service/store/connection.ts';
import { MIGRATIONS } from '../../../src/service/store/migrations.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { mediaSources } from '../support/media-sources.ts';
import { jsonPost, temporaryFolder, voiceId } from '../support/test-service.ts';
import type { JobService } from './job-service.ts';
import { BODY, GRANT, JOBS, jobService } from './job-service.ts';

/** The last schema with a table for speech jobs and one for media jobs. */
const TWO_TABLES = MIGRATIONS.slice(0, 11);

const RATE = 16_000;
const PRICE = 10;
const IMAGE_BODY = { prompt: 'A fox', model: 'any' };
const IMAGE_ANSWER = {
  success: true,
  quotaRemaining: 7,
  data: { id: 'image', credits_used: PRICE },
};
const DRAWING = { prompt: 'A fox', model: 'any', seed: 1, width: 64, height: 64, references: [] };
const IMAGE = {
  ...DRAWING,
  createdAt: 5,
  aspect_ratio: '1:1',
  resolution: '1k',
  output_format: 'png',
};
const LIP_SYNC = {
  video: { codec: 'avc', width: 64, height: 64, seconds: 1 },
  audio: { codec: 'mp3', seconds: 1, start: 0, paddingSeconds: 0 },
  audioFile: 'audio',
  seconds: 1,
  tempo: 1,
  billedSeconds: 1,
  credits: PRICE,
  rule: 'shorter_input_rounded_up',
};
const LIP_SYNC_RESULT = {
  duration_seconds: 1,
  width: 64,
  height: 64,
  video_codec: 'avc',
  audio_codec: 'aac',
  size_bytes: 4,
};

function insert(db: Connection, table: string, row: Readonly<Record<string, SqlValue>>): void {
  const columns = Object.keys(row);
  const marks = columns.map(() => '?').join(', ');
  db.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, Object.values(row));
}

function insertOperation(db: Connection, id: string, change: Record<string, SqlValue> = {}): void {
  const amounts = { credits: PRICE, quota: PRICE };
  expect(reserve(db, { id, accountId: 'first', amounts }, 0)).toEqual({ kind: 'reserved' });
  const operation = { id, account_id: 'first', endpoint: 'createJob', fingerprint: 'any' };
  const state = { state: 'completed', request_id: id, created_at: 0 };
  insert(db, 'operation', { ...operation, ...state, ...change });
}

function insertSpeech(db: Connection, id: string, change: Record<string, SqlValue>): void {
  insertOperation(db, id, id === 'failed' ? { failure: 'out of breath' } : {});
  insert(db, 'job', {
    id,
    account_id: 'first',
    attempts: 1,
    voice_id: BODY.voiceId,
    model_id: BODY.modelId,
    format: 'wav',
    speed: 1,
    pitch: 0,
    gain_db: 0.1 + 0.2,
    ignored: '',
    characters: PRICE,
    credits: PRICE,
    text_preview: `The "${id}" text`,
    text_fingerprint: `sha256:${id}`,
    created_at: 1_000,
    ...change,
  });
}

function insertSegments(db: Connection, job: string, ...statuses: readonly string[]): void {
  for (const [number, status] of statuses.entries()) {
    const [samples, rate] = status === 'success' ? [RATE, RATE] : [null, null];
    const length = { samples, sample_rate: rate };
    const text = { text: `Part ${number} is said.`, characters: 5 };
    insert(db, 'job_segment', { job_id: job, number, status, ...text, ...length });
  }
}

function insertMedia(db: Connection, id: string, change: Record<string, SqlValue>): void {
  insertOperation(db, id, {
    endpoint: 'createImageJob',
    idempotency_key: id,
    fingerprint: fingerprintOf(IMAGE_BODY),
  });
  insert(db, 'media_job', {
    id,
    account_id: 'first',
    attempts: 1,
    progress: 40,
    work: JSON.stringify(LIP_SYNC),
    answer: '{}',
    credits: PRICE,
    created_at: 1_000,
    is_to_fail: 0,
    ...change,
  });
}

/** Jobs as a build with two tables left them: some ended, the others owned by a dead process. */
function insertJobs(db: Connection): void {
  ensureAccount(db, { id: 'first', tier: 'any' }, 0);
  grant(db, 'first', { credits: GRANT, quota: GRANT }, 0);
  insert(db, 'owner', { id: 'dead', pid: 1, host: 'any', lease_until: 0 });
  const running = { status: 'processing', owner_id: 'dead' };
  const ended = { finished_at: 2_000 };
  insertSpeech(db, 'done', { ...ended, status: 'success', ignored: 'stability,emotion' });
  insertSegments(db, 'done', 'success');
  commit(db, 'done', 0);
  insertSpeech(db, 'partial', { ...ended, status: 'partial_fail', credits: 5 });
  insertSegments(db, 'partial', 'success', 'fail');
  commitPart(db, 'partial', { credits: 5, quota: 5 }, 0);
  insertSpeech(db, 'failed', { ...ended, status: 'fail', credits: 0 });
  insertSegments(db, 'failed', 'fail');
  refund(db, 'failed', 0);
  insertSpeech(db, 'running', running);
  insertSegments(db, 'running', 'success', 'pending');
  insertSpeech(db, 'to-fail', { status: 'pending', attempts: 0, fault: 'fail' });
  insertSegments(db, 'to-fail', 'pending');
  const result = { result: JSON.stringify(LIP_SYNC_RESULT), progress: 100 };
  insertMedia(db, 'synced', { ...ended, ...result, kind: 'lip_sync', status: 'completed' });
  commit(db, 'synced', 0);
  const error = { error_code: 'ERR_STORAGE_FULL', error_message: 'The disk is full' };
  insertMedia(db, 'unsynced', {
    ...ended,
    ...error,
    kind: 'lip_sync',
    status: 'failed',
    credits: 0,
  });
  refund(db, 'unsynced', 0);
  const work = { work: JSON.stringify(IMAGE), answer: JSON.stringify(IMAGE_ANSWER) };
  insertMedia(db, 'image', { ...running, ...work, kind: 'image' });
  insertMedia(db, 'dubbing', { status: 'pending', attempts: 0, kind: 'video_dubbing' });
  const file = { id: 'speech', folder: 'dubbing', name: 'speech.wav', content_type: 'audio/wav' };
  insert(db, 'media_file', file);
  const dubbing = { speech_file_id: 'speech', speech_credits: 3, job_id: 'dubbing' };
  insert(db, 'dubbing', { operation_id: 'done', ...dubbing });
  insertMedia(db, 'image-to-fail', { ...work, status: 'pending', kind: 'image', is_to_fail: 1 });
}

/** Makes every file of a media job at once. */
const run: RunTask = async (task, order, { result }) => {
  await writeFile(String(Object(order).output), 'made');
  const made: unknown = task === 'align-sound' ? { audioCodec: 'aac', bytes: 4 } : null;
  if (Check(result, made)) return made;
  throw new TypeError(`${task} makes something else`);
};

/** A service on data of a build with two tables. */
async function migratedService(): Promise<JobService> {
  const dataDir = await temporaryFolder();
  const database = new Database(join(dataDir, 'service.db'));
  for (const step of TWO_TABLES) database.exec(step);
  database.exec('BEGIN');
  insertJobs(createConnection(database));
  database.exec(`COMMIT; PRAGMA user_version = ${TWO_TABLES.length}`);
  database.close();
  await mkdir(join(dataDir, 'audio', 'running'), { recursive: true });
  await writeFile(join(dataDir, 'audio', 'running', 'segment-0.f32'), new Float32Array(RATE));
  const store = await openStore({ dataDir, clock: systemClock, files: systemFiles });
  onTestFinished(() => store.close());
  const { self } = systemProcesses();
  const media = { ...mediaSources({ clock: systemClock, random: systemRandom, store }), run };
  return jobService({ store, media, processes: { self, liveness: () => 'dead' } });
}

test('jobs of a build with two tables are all there, in their order', async () => {
  const { call, task, store } = await migratedService();
  const { items } = Object(await (await call(JOBS)).json());
  expect(items.map(({ taskId }: { taskId: string }) => taskId)).toEqual([
    'to-fail',
    'running',
    'failed',
    'partial',
    'done',
  ]);
  expect(await task('done')).toMatchObject({
    status: 'success',
    format: 'wav',
    voiceId: voiceId('Clara'),
    modelId: BODY.modelId,
    characters: PRICE,
    creditsUsed: PRICE,
    durationMs: 1_000,
    textPreview: 'The "done" text',
    textFingerprint: 'sha256:done',
    createdAt: new Date(1_000).toISOString(),
    finishedAt: new Date(2_000).toISOString(),
    error: null,
  });
  expect(Object(await (await call(`${JOBS}/done`)).json()).ignoredParameters).toEqual([
    'stability',
    'emotion',
  ]);
  expect(await task('partial')).toMatchObject({ status: 'partial_fail', creditsUsed: 5 });
  expect(await task('failed')).toMatchObject({
    status: 'fail',
    error: { code: 'ERR_GENERATION_FAILED', message: expect.stringContaining('out of breath') },
  });
  const stored = store.read((db) => db.get("SELECT order_json FROM job WHERE id = 'done'"));
  expect(JSON.parse(String(stored?.['order_json']))).toMatchObject({ gainDb: 0.1 + 0.2, speed: 1 });
  const lipSyncs = await call('/api/open/v1/media/lip-sync/jobs');
  expect(Object(await lipSyncs.json()).data.items).toMatchObject([
    { id: 'unsynced', status: 'failed', error: { code: 'ERR_STORAGE_FULL' }, credits_used: 0 },
    { id: 'synced', status: 'completed', progress: 100, result: LIP_SYNC_RESULT },
  ]);
});

test('its unfinished jobs are finished, and its money is settled once', async () => {
  const { balance, bytes, call, directed, ended, store } = await migratedService();
  expect(await ended('running')).toMatchObject({ status: 'success', creditsUsed: PRICE });
  expect(directed.texts).toEqual(['Part 1 is said.']);
  const { durationMs } = await decodeAudio(await bytes(`${JOBS}/running/audio`));
  expect(durationMs).toBeGreaterThan(1_000);
  expect(await ended('to-fail')).toMatchObject({ status: 'fail', creditsUsed: 0 });
  const media = async (path: string): Promise<unknown> =>
    Object(await (await call(`/api/open/v1/media/${path}`)).json()).data;
  const isDone = { status: 'completed', progress: 100, result_url: expect.any(String) };
  await expect.poll(() => media('images/jobs/image')).toMatchObject({ id: 'image', ...isDone });
  await expect
    .poll(() => media('video-dubbing/jobs/dubbing'))
    .toMatchObject({ ...isDone, result: LIP_SYNC_RESULT, credits_used: { tts: 3, total: 13 } });
  await expect
    .poll(() => media('images/jobs/image-to-fail'))
    .toMatchObject({ status: 'failed', error: { code: 'ERR_GENERATION_FAILED' }, credits_used: 0 });
  verifyLedger(store, { full: true });
  // done, partial, running, synced, image, dubbing
  expect((await balance()).credits).toBe(GRANT - PRICE - 5 - 4 * PRICE);
  expect(store.read((db) => db.all("SELECT id FROM owner WHERE id = 'dead'"))).toEqual([]);
});

test('the create of an image under its key is answered as it was', async () => {
  const { call } = await migratedService();
  const again = jsonPost(IMAGE_BODY, { 'Idempotency-Key': 'image' });
  const response = await call('/api/open/v1/media/images/jobs', again);
  expect([response.status, await response.json()]).toEqual([202, IMAGE_ANSWER]);
});
