import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { meetIdleSequence, meetSequence } from '../../realtime/meet-sequence.ts';
import { drop, serve } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { FRAMES, IDLE_SEQUENCES, SIMPLE_SEQUENCES, stepsOf } from '../../realtime/sequences.ts';
import { live, made, scripted } from './spoken.ts';

// test/check/live/sequences.test.ts runs all of them.
const QUICK = new Set(['a slow client during the audio', 'numbers with gaps, and the right size']);

test.each(SIMPLE_SEQUENCES.filter(([name]) => QUICK.has(name)))(
  'a sequence: %s',
  async (_name, words, outcome) => {
    expect((await meetSequence('v3', 'simple', words)).outcome).toEqual(outcome);
  },
);

test.each(IDLE_SEQUENCES.slice(0, 1))(
  'while it waits for text: %s',
  async (_name, after, end, texts, outcome) => {
    expect(await meetIdleSequence('v3', after, end, texts)).toEqual(outcome);
  },
);

test('a flood of warnings is cut short', async () => {
  const steps = stepsOf('auth start ready input warn*2000 a1 usage finish');
  const server = await startScriptedServer({ connections: [{ steps }] });
  const result = await live(server, ['One.', '-o', 'a.mp3']);
  server.takeProblems();
  expect(result.code).toBe(0);
  expect((await made(result, 'a.mp3')).equals(FRAMES[0] ?? Buffer.alloc(0))).toBe(true);
  expect(result.stderr.split('foley: talkative').length - 1).toBe(100);
  expect(result.stderr).toContain('foley: warnings_omitted: ');
});

test('a request of v2 that failed for good is not to be retried', async () => {
  const fault = { on: 'sent', event: 'audio', number: 1, when: 'before' } as const;
  const server = await startScriptedServer({
    connections: [{ steps: [serve({ faults: [{ ...fault, steps: [drop()] }] })] }],
    afterDrop: 'failed_terminal',
  });
  const flags = ['--protocol', 'v2', '--json', '-o', 'a.mp3', '--max-retries', '1'];
  const result = await live(server, flags, { input: 'One. Two.' });
  server.takeProblems();
  expect(errorLine(result)).toMatchObject({
    exitCode: 20,
    message: expect.stringContaining('cannot be retried'),
    hint: null,
  });
});

describe('foley live ticket prints', () => {
  test.each([
    ['the ticket', { ticket: 't1', url: 'wss://x.example' }, 't1\n'],
    ['a ticket with another name', { token: 't2', expires_in: 60 }, 't2\n'],
    ['a ticket that is nested', { data: { browser_ticket: 't3' } }, 't3\n'],
    ['a ticket alone', 't4', 't4\n'],
    ['everything if no field is known', { once: 't5' }, '{\n  "once": "t5"\n}\n'],
  ])('%s', async (_name, json, printed) => {
    const http = { 'POST /v3/tts/browser-tickets': { status: 200, json } };
    const server = await startScriptedServer({ http });
    const args = ['live', 'ticket', '--origin', 'https://app.example.com'];
    const { code, stdout } = await runFoley(args, { env: scripted(server) });
    expect([code, stdout.toString()]).toEqual([0, printed]);
    const asJson = await runFoley([...args, '--json'], { env: scripted(server) });
    expect(JSON.parse(asJson.stdout.toString())).toEqual(json);
  });
});
