import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { close, expectMessage, fail, send } from '../../realtime/script.ts';
import type { Step } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { startServe } from '../../binary/support/serve.ts';
import { live } from '../../binary/live/spoken.ts';

/** The small size omits cases that test/live has too. */
const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const MODES = ['simple', 'reliable'] as const;
type Mode = (typeof MODES)[number];
const MARTIN = ['--voice-name', 'Martin'];

describe('text without sound is refused in both modes, at no cost', () => {
  const texts = [['???'], ['😀 🎉'], ['你好。再见。'], ['?! ... ?!']] as const;
  test.each(texts.slice(0, IS_FULL ? 4 : 2))('%s', async (text) => {
    const service = await startServe([], { timeoutMs: 280_000 });
    for (const mode of MODES) {
      for (const protocol of ['v3', 'v2']) {
        const args = [
          'live',
          ...MARTIN,
          text,
          '--mode',
          mode,
          '--protocol',
          protocol,
          '--json',
          '-o',
          'a.mp3',
        ];
        const result = await runFoley(args, { env: service.env });
        expect(errorLine(result), `${mode} ${protocol}`).toMatchObject({
          exitCode: 20,
          code: 'empty_segment',
          billed: 'no',
          hint: expect.not.stringContaining('--request-id'),
        });
      }
    }
  });

  test.each(MODES)('also with the same request id, in %s mode', async (mode) => {
    const service = await startServe([], { timeoutMs: 280_000 });
    const args = [
      'live',
      ...MARTIN,
      '???',
      '--mode',
      mode,
      '--request-id',
      'again',
      '--json',
      '-o',
      'a.mp3',
    ];
    for (const attempt of ['first', 'second']) {
      const error = errorLine(await runFoley(args, { env: service.env }));
      expect(error, attempt).toMatchObject({ exitCode: 20, billed: 'no' });
    }
  });
});

const START: readonly Step[] = [send('authenticated'), expectMessage('start')];
const ASKED: Readonly<Record<Mode, readonly Step[]>> = {
  simple: [...START, send('ready'), expectMessage('input')],
  reliable: [...START, send('ready'), expectMessage('text')],
};

const finished = (reason: string): readonly Step[] => [
  send('finish', { reason, units: 0 }),
  close(1000),
];
const FAULTS: readonly (readonly [string, readonly Step[], number])[] = [
  ['permission_denied', fail('permission_denied', 1008), 4],
  ['empty_segment', fail('empty_segment', 1000), 20],
  ['an unknown code', fail('something_new', 1000), 20],
  ['quota_exceeded', fail('quota_exceeded', 1008), 21],
  ['session_limit_exceeded', fail('session_limit_exceeded', 1008), 22],
  ['generation_failed', fail('generation_failed', 1011, { retryable: true }), 23],
  ['client_backpressure', fail('client_backpressure', 1013, { retryable: true }), 24],
  ['a session that ends with a timeout', finished('timeout'), 24],
  ['a session that ends in an error', finished('error'), 23],
  ['a service that restarts', [close(1012)], 23],
  ['a service that failed', [close(1011)], 23],
  ['a connection that is closed without a reason', [close(1000)], 25],
];
/** One of each exit code. */
const IN_SHORT = new Set(['permission_denied', 'empty_segment', 'generation_failed']);

describe('both modes have the same exit before any audio', () => {
  const faults = FAULTS.filter(([name]) => IS_FULL || IN_SHORT.has(name));
  test.each(faults)('%s', async (_name, steps, exitCode) => {
    const errors = MODES.map(async (mode) => {
      const server = await startScriptedServer({
        connections: [{ steps: [...ASKED[mode], ...steps] }],
      });
      const args = ['Hello there.', '--mode', mode, '--max-retries', '0', '--json', '-o', 'a.mp3'];
      const { billed, code, exitCode: exit, message } = errorLine(await live(server, args));
      server.takeProblems();
      return { billed, code, exit, message };
    });
    const [simple, reliable] = await Promise.all(errors);
    expect(simple).toMatchObject({ exit: exitCode });
    expect(reliable).toEqual(simple);
  });
});
