import { expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import { createFixture } from '../support/fixture.ts';
import { CREATES, healthy, job, JOB_ID, leftIn, onPoll } from './media-fixture.ts';

const CURSOR_BACK = '\u001b[?25h';

test('a wait shows how far the job is, and takes it away again', async () => {
  const fixture = await createFixture([
    onPoll('image', job('image', 'processing', { 'Retry-After': '0' }), { times: 1 }),
    onPoll('image', faults.silence()),
    ...healthy('image'),
  ]);
  const { sandbox, env } = fixture;
  const running = await startInTerminal([...CREATES.image, '-o', 'a.png'], { sandbox, env });
  await running.waitFor('stdout', /job job-1: processing .*40%/);
  running.write('\u0003');
  const { code, stdout } = await running.done;
  expect(code).toBe(130);
  const shown = stdout.toString();
  expect(shown).toContain(`foley image wait ${JOB_ID} -o a.png`);
  expect(shown).toContain(CURSOR_BACK);
});

test('--preview shows the picture, and prints where it is', async () => {
  const { sandbox, env } = await createFixture(healthy('image'));
  const args = [...CREATES.image, '--preview', '--no-progress', '--color', 'always'];
  const running = await startInTerminal(args, { sandbox, env });
  const { code, stdout } = await running.done;
  const shown = stdout.toString();
  expect(code, shown).toBe(0);
  expect(shown).toContain('\u001b[38;2;208;32;96;48;2;208;32;96m▀');
  expect(shown).toMatch(/▀\u001b\[0m\r\na-lighthouse\.png\r\n$/);
  expect(await leftIn(sandbox)).toEqual(['out/a-lighthouse.png']);
});

test('--preview without a terminal saves it, and says so', async () => {
  const fixture = await createFixture(healthy('image'));
  const result = await fixture.run([...CREATES.image, '--preview', '-o', 'b.png']);
  expect([result.code, result.stdout.toString()]).toEqual([0, `${JOB_ID}\nb.png\n`]);
  expect(result.stderr).toContain('on a terminal only');
});
