import { expect, test } from 'vitest';
import { startInTerminal } from '../../harness/terminal.ts';
import { firstVoiceId } from '../../binary/support/serve.ts';
import { batchSandbox, JOBS_PATH } from '../../binary/batch/batch-sandbox.ts';

const COLUMNS = 80;
const LINES = Array.from({ length: 6 }, (_, index) => `Item ${index + 1} speaks.`).join('\n');

test('a terminal shows a bar with failures, credits and time left, and keeps the last line', async () => {
  const { sandbox, service } = await batchSandbox({ 'lines.txt': LINES }, [
    `POST ${JOBS_PATH}; job=fail; times=1`,
    `GET ${JOBS_PATH}/**; delay=300ms`,
  ]);
  const args = ['batch', '--lines', 'lines.txt', '-j', '2', '-m', 'vendor-s21pro'];
  const voice = ['-v', await firstVoiceId(service)];
  const running = await startInTerminal([...args, ...voice], {
    sandbox,
    env: service.env,
    columns: COLUMNS,
  });
  const { code, stdout } = await running.done;
  expect(code).toBe(3);
  const shown = stdout.toString();
  expect(shown).toMatch(/\d\/6 {2}1 failed {2}\d+ credits {2}\d+ s left/);
  // Beside a bar, a terminal cuts off longer lines.
  const failure = /foley: lines-\d: the job[^]*?\.\r\n/.exec(shown)?.[0] ?? '';
  expect(failure.replaceAll(/\s+/g, ' ')).toMatch(/lines-\d: the job \S+ failed.*--retry-failed /);
  for (const line of failure.split('\r\n')) expect(line.length).toBeLessThanOrEqual(COLUMNS);
  expect(shown.trimEnd()).toMatch(/5 done, 1 failed, 0 skipped, \d+ credits used$/);
});

test('--no-progress shows no bar', async () => {
  const { sandbox, service } = await batchSandbox({ 'lines.txt': LINES });
  const args = [
    'batch',
    '--lines',
    'lines.txt',
    '--no-progress',
    '-v',
    await firstVoiceId(service),
  ];
  const running = await startInTerminal(args, { sandbox, env: service.env });
  const { stdout } = await running.done;
  expect(stdout.toString().trim()).toMatch(/^6 done, 0 failed, 0 skipped, \d+ credits used$/);
});

test('a second Ctrl-C removes the bar and shows the cursor', async () => {
  const { sandbox, service } = await batchSandbox({ 'lines.txt': LINES }, [
    `GET ${JOBS_PATH}/*/audio; delay=20s`,
  ]);
  const args = ['batch', '--lines', 'lines.txt', '-v', await firstVoiceId(service)];
  const running = await startInTerminal(args, { sandbox, env: service.env });
  await running.waitFor('stdout', /0\/6 {2}0 failed/);
  running.write('\x03');
  await running.waitFor('stdout', /stopping; running items/);
  running.write('\x03');
  const { code, stdout } = await running.done;
  expect(code).toBe(130);
  const shown = stdout.toString();
  const [HIDE, SHOW] = ['\u001b[?25l', '\u001b[?25h'];
  expect(shown.lastIndexOf(SHOW)).toBeGreaterThan(shown.lastIndexOf(HIDE));
  expect(shown.slice(shown.lastIndexOf('0/6'))).toContain('\u001b[');
});
