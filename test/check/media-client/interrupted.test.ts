import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MEDIA_JOB_KINDS } from '../../../src/api/resources/models.ts';
import * as faults from '../../fault-server/catalogue.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley, startFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { OPEN, createFixture } from '../../binary/support/fixture.ts';
import { everyNth, json } from '../../binary/voices/voice-fixture.ts';
import {
  AUDIO_URL,
  CREATES,
  healthy,
  job,
  JOB_ID,
  leftIn,
  madeBy,
  onCreate,
  onPoll,
  onResult,
  PATHS,
  result,
  VIDEO_URL,
} from '../../binary/media-client/media-fixture.ts';

const KINDS = everyNth(3, MEDIA_JOB_KINDS);

describe.each(KINDS)('%s create', (kind) => {
  const name = kind === 'image' ? 'a.png' : 'a.mp4';
  const saving = [...CREATES[kind], '-o', name];

  test('prints on Ctrl-C how to continue, and that command works', async () => {
    const fixture = await createFixture([
      onPoll(kind, faults.silence(), { times: 1 }),
      ...healthy(kind),
    ]);
    const running = await fixture.start(saving);
    await fixture.server.paused();
    running.signal('SIGINT');
    const stopped = await running.done;
    expect(stopped.signal).toBe('SIGINT');
    const next = `foley ${kind} wait ${JOB_ID} -o ${name}`;
    expect(stopped.stderr).toContain(`\`${next}\` continues`);
    expect(await leftIn(fixture.sandbox)).toEqual([OPEN]);
    const went = await fixture.run(next.split(' ').slice(1));
    expect([went.code, went.stdout.toString()]).toEqual([0, `${name}\n`]);
    expect(await leftIn(fixture.sandbox)).toEqual([`out/${name}`]);
  });

  test('loses nothing when killed between create and download', async () => {
    const fixture = await createFixture([
      onPoll(kind, faults.silence(), { times: 1 }),
      ...healthy(kind),
    ]);
    const running = await fixture.start(saving);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    const listed = await fixture.run(['recover', '--list']);
    expect(listed.stdout.toString()).toContain(`job ${JOB_ID}`);
    const recovered = await fixture.run(['recover', '--json']);
    expect(recovered.code, recovered.stderr).toBe(0);
    const output = path.join(fixture.sandbox.out, name);
    expect(JSON.parse(recovered.stdout.toString())).toMatchObject({
      items: [{ outcome: 'recovered', jobId: JOB_ID, creditsUsed: 7, output }],
    });
    expect((await readFile(output)).equals(madeBy(kind).bytes)).toBe(true);
    expect(await leftIn(fixture.sandbox)).toEqual([`out/${name}`]);
  });

  test('is reported as refunded when its job failed meanwhile', async () => {
    const fixture = await createFixture([
      onPoll(kind, faults.silence(), { times: 1 }),
      onPoll(kind, job(kind, 'failed', { credits_used: 0 })),
      ...healthy(kind),
    ]);
    const running = await fixture.start(saving);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    const recovered = await fixture.run(['recover']);
    expect(recovered.code).toBe(20);
    expect(recovered.stdout.toString()).toContain('it was refunded');
    expect(await leftIn(fixture.sandbox)).toEqual([]);
  });
});

test('a create that is stopped before its response prints where to look', async () => {
  for (const [kind, told] of [
    ['lipsync', 'foley lipsync list'],
    ['image', '--idempotency-key'],
  ] as const) {
    const fixture = await createFixture([onCreate(kind, faults.silence())]);
    const running = await fixture.start(CREATES[kind]);
    await fixture.server.paused();
    running.signal('SIGINT');
    const stopped = await running.done;
    expect([stopped.signal, stopped.stderr]).toEqual(['SIGINT', expect.stringContaining(told)]);
    expect(await leftIn(fixture.sandbox)).toEqual([OPEN]);
  }
});

/** The list of lip syncs. */
async function unanswered(jobs: () => readonly object[]) {
  const fixture = await createFixture([
    onCreate('lipsync', faults.silence(), { times: 1 }),
    {
      method: 'GET',
      path: PATHS.lipsync,
      answer: () => json({ data: { items: jobs() } }),
      optional: true,
    },
    ...healthy('lipsync'),
  ]);
  const running = await fixture.start([...CREATES.lipsync, '-o', 'a.mp4']);
  await fixture.server.paused();
  running.signal('SIGKILL');
  await running.done;
  return fixture;
}

function listedJob(id: string, created_at: string) {
  return { id, status: 'pending', progress: 0, credits_used: 7, created_at };
}

describe('foley recover of a create without a response', () => {
  test('finds the only lip sync of that time in the list', async () => {
    const fixture = await unanswered(() => [
      listedJob(JOB_ID, new Date().toISOString()),
      listedJob('older', '2020-01-01T00:00:00Z'),
    ]);
    const recovered = await fixture.run(['recover', '--json']);
    expect(recovered.code, recovered.stderr).toBe(0);
    expect(JSON.parse(recovered.stdout.toString())).toMatchObject({
      items: [
        { outcome: 'recovered', jobId: JOB_ID, output: path.join(fixture.sandbox.out, 'a.mp4') },
      ],
    });
    expect(fixture.server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(await leftIn(fixture.sandbox)).toEqual(['out/a.mp4']);
  });

  test.each([
    ['none', []],
    ['two', ['a', 'b']],
  ])('reports an unknown outcome with %s matches in the list', async (_, ids) => {
    const fixture = await unanswered(() =>
      ids.map((id) => listedJob(id, new Date().toISOString())),
    );
    const recovered = await fixture.run(['recover']);
    expect(recovered.code, recovered.stderr).toBe(26);
    expect(recovered.stdout.toString()).toContain('`foley lipsync list`');
    expect(await leftIn(fixture.sandbox)).toEqual([]);
  });

  test('retries with the key', async () => {
    const fixture = await createFixture([
      onCreate('image', faults.silence(), { times: 1 }),
      ...healthy('image'),
    ]);
    const running = await fixture.start([...CREATES.image, '-o', 'a.png']);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    const recovered = await fixture.run(['recover']);
    expect(recovered.code, recovered.stderr).toBe(0);
    const creates = fixture.server.requests.filter(({ method }) => method === 'POST');
    const [key, ...others] = new Set(creates.map((create) => create.header('idempotency-key')));
    expect([creates.length, typeof key, others]).toEqual([2, 'string', []]);
    expect(await leftIn(fixture.sandbox)).toEqual(['out/a.png']);
  });
});

test('the next command finishes an embedded job of a killed one', async () => {
  const sandbox = await createSandbox();
  const order = ['video', 'create', 'Waves', '-m', 'vendor-video-1-flash', '--seconds', '2'];
  const args = [...order, '--size', '640x360', '-o', 'a.mp4', '--local'];
  const running = await startFoley(args, { sandbox });
  const [, id = ''] = await running.waitFor('stdout', /^(\S+)\n/);
  running.signal('SIGKILL');
  await running.done;
  const recovered = await runFoley(['recover', '--local', '--json'], {
    sandbox,
    timeoutMs: 110_000,
  });
  expect(recovered.code, recovered.stderr).toBe(0);
  expect(JSON.parse(recovered.stdout.toString())).toMatchObject({
    items: [{ outcome: 'recovered', jobId: id, output: path.join(sandbox.out, 'a.mp4') }],
  });
}, 120_000);

/** The response to a dubbing whose speech alone was billed (docs/api/errors.md). */
function refused(audio: string): Step[] {
  const body = {
    code: 'ERR_INSUFFICIENT_CREDITS',
    message: 'Not enough credits for the lip sync.',
    requestId: 'r-dub',
    details: { tts_audio_url: audio, tts_credits_used: 3 },
  };
  return json(body, {}, 402);
}

describe('a dubbing whose speech was billed', () => {
  test('spools the speech, and names it and the command that continues, once', async () => {
    const { wav } = await tinyAudio();
    const store = await createFixture([onResult(faults.audio(wav))]);
    const audio = `${store.server.origin}/files/result?signature=s&expires=1`;
    const fixture = await createFixture([onCreate('dub', refused(audio))]);
    const error = errorLine(await fixture.run([...CREATES.dub, '-o', 'a.mp4', '--json']));
    expect(error).toMatchObject({ exitCode: 21, status: 402, billed: 'yes' });
    expect(error.message).toMatch(/billed for 3 credits and is saved in .+\.wav$/);
    expect(error.hint).toContain(
      `\`foley lipsync create --video ${VIDEO_URL} --audio '${audio}' -o a.mp4\``,
    );
    expect(await leftIn(fixture.sandbox)).toEqual([
      'state/foley/spool/ID.json',
      'state/foley/spool/ID.wav',
    ]);
    expect(store.server.requests[0]?.header('authorization')).toBeUndefined();
    const told = await fixture.run(['recover', '--json']);
    expect(JSON.parse(told.stdout.toString())).toMatchObject({
      items: [{ outcome: 'recovered', creditsUsed: 3 }],
    });
  });

  test('names the service when it cannot be downloaded', async () => {
    const fixture = await createFixture([
      onCreate('dub', refused('/files/result')),
      onResult(faults.errorAnswer(404)),
    ]);
    const error = errorLine(await fixture.run([...CREATES.dub, '--json']));
    expect(error).toMatchObject({ exitCode: 21, billed: 'yes' });
    expect(error.message).toMatch(/billed for 3 credits and is stored on the service$/);
    expect(error.hint).toContain(`--audio ${fixture.server.origin}/files/result\``);
    expect(await leftIn(fixture.sandbox)).toEqual([]);
  });
});

test('URLs of a video and a sound are sent unchanged', async () => {
  const fixture = await createFixture([
    onResult(result('lipsync'), { optional: true }),
    ...healthy('lipsync'),
  ]);
  await fixture.run(CREATES.lipsync);
  expect(JSON.parse(fixture.server.requests[0]?.body.toString() ?? '')).toEqual({
    video_url: VIDEO_URL,
    audio_url: AUDIO_URL,
  });
});
