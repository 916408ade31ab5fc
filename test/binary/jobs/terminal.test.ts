import { describe, expect, test } from 'vitest';
import { startInTerminal } from '../../harness/terminal.ts';
import {
  answersInSequence,
  JOB_ID,
  JOB_PATH,
  jobAnswer,
  JOBS_PATH,
  jobFixture,
  onPoll,
} from './job-fixture.ts';

const ESCAPE = '\u001b';

describe('waiting on a terminal', () => {
  test('for several shows one table that changes in place, and then the result', async () => {
    const fixture = await jobFixture([
      onPoll(answersInSequence(jobAnswer('queued'), jobAnswer('processing'), jobAnswer('success'))),
      onPoll(answersInSequence(jobAnswer('queued'), jobAnswer('fail', { taskId: 'job-2' })), {
        path: `${JOBS_PATH}/job-2`,
      }),
    ]);
    const args = ['jobs', 'wait', JOB_ID, 'job-2', '--poll-interval', '30ms'];
    const env = { ...fixture.env, NO_COLOR: '1' };
    const running = await startInTerminal(args, { sandbox: fixture.sandbox, env });
    const { code, stdout } = await running.done;
    const shown = stdout.toString();
    expect(code, shown).toBe(20);
    expect(shown).toMatch(/JOB +STATUS +OUTPUT/);
    expect(shown).toMatch(/job-1 +processing/);
    // Three lines up, and everything below anew.
    expect(shown).toContain(`${ESCAPE}[3A\r${ESCAPE}[0J`);
    const last = shown.slice(shown.lastIndexOf(`${ESCAPE}[0J`));
    expect(last).toMatch(/ID +STATUS +CREDITS +OUTPUT\r\njob-1 +success +7\s+job-2 +fail +0/);
    expect(last).toMatch(/foley:.* job job-2 ended with fail/);
    const tables = shown.split(/JOB +STATUS/).length - 1;
    // A table for each change, and none for what stayed as it was.
    expect(tables).toBeLessThanOrEqual(7);
  });

  test('for one long job shows how much of it was spoken', async () => {
    const segments = ['success', 'success', 'pending'].map((status, index) => ({ index, status }));
    const fixture = await jobFixture([
      onPoll(
        answersInSequence(
          jobAnswer('processing', { segments }),
          jobAnswer('success', {
            segments: segments.map((one) => ({ ...one, status: 'success' })),
          }),
        ),
      ),
    ]);
    const args = ['jobs', 'wait', JOB_ID, '--poll-interval', '300ms'];
    const { done } = await startInTerminal(args, { sandbox: fixture.sandbox, env: fixture.env });
    const { code, stdout } = await done;
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining('processing, 66 %')]);
  });

  test('for several, and for a job that is being created, shows it too', async () => {
    const segments = ['success', 'pending', 'pending'].map((status, index) => ({ index, status }));
    let isShown = false;
    const fixture = await jobFixture([
      onPoll(() => (isShown ? jobAnswer('success') : jobAnswer('processing', { segments }))),
      onPoll(jobAnswer('success', { taskId: 'job-2' }), {
        path: `${JOBS_PATH}/job-2`,
        optional: true,
      }),
    ]);
    const { env, sandbox } = fixture;
    for (const args of [
      ['wait', JOB_ID, 'job-2'],
      ['create', 'Hello', '-v', 'v', '--wait'],
    ]) {
      isShown = false;
      const all = ['jobs', ...args, '--poll-interval', '300ms'];
      const running = await startInTerminal(all, { sandbox, env });
      await running.waitFor('stdout', /job-1:? +processing, 33 %/);
      isShown = true;
      expect((await running.done).code).toBe(0);
    }
  });

  test.each([
    ['--quiet', {}],
    ['--json', {}],
    ['--no-progress', {}],
    ['--max-retries=4', { CI: 'true' }],
  ])('shows nothing that moves with %s %j', async (flag, env) => {
    const path = `${JOBS_PATH}/job-2`;
    const fixture = await jobFixture([
      // On a busy machine the time is over before it is asked about.
      onPoll(jobAnswer('queued', { taskId: 'job-2' }), { path, optional: true }),
    ]);
    const args = ['jobs', 'wait', JOB_ID, 'job-2', flag, '--poll-interval', '1ms'];
    const stuck = { sandbox: fixture.sandbox, env: { ...fixture.env, ...env } };
    const running = await startInTerminal([...args, '--timeout', '300ms'], stuck);
    const { stdout } = await running.done;
    expect(stdout.toString()).not.toMatch(/JOB +STATUS +OUTPUT/);
    expect(stdout.toString()).not.toContain(`${ESCAPE}[0J`);
  });

  test('stopped with Ctrl-C names the jobs that are left', async () => {
    const fixture = await jobFixture([
      onPoll(jobAnswer('success')),
      onPoll(jobAnswer('queued', { taskId: 'job-2' }), { path: `${JOBS_PATH}/job-2` }),
    ]);
    const { sandbox, env } = fixture;
    const args = ['jobs', 'wait', JOB_ID, 'job-2', '-o', 'all'];
    const running = await startInTerminal(args, { sandbox, env });
    await running.waitFor('stdout', /job-1 +success +all/);
    running.write('\u0003');
    const { code, stdout } = await running.done;
    expect(code).toBe(130);
    expect(stdout.toString()).toContain('`foley jobs wait job-2 -o all` continues');
    expect(fixture.server.requests.some(({ path }) => path === JOB_PATH)).toBe(true);
  });
});
