import path from 'node:path';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  ALIGNED_PATH,
  audioEvent,
  eventText,
  snapshotEvent,
} from '../../fault-server/faults/aligned.ts';
import { audio } from '../../fault-server/faults/wrong-answer.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Rule } from '../../fault-server/script.ts';
import type { Step } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import { parseJsonLines } from '../../harness/json-lines.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import { createFixture, VOICE } from '../../binary/support/fixture.ts';
import { answersInSequence, JOBS_PATH, requestsTo } from '../../binary/jobs/job-fixture.ts';

const { mp3, wav } = await tinyAudio();

function json(status: number, body: unknown): Step[] {
  const headers = { 'Content-Type': 'application/json', 'Retry-After': '0' };
  return answer(status, headers, JSON.stringify(body));
}

/** Jobs whose create response has all fields of docs/api/jobs.md#v3, and whose polls have only id and status. */
function jobs(polled: readonly string[], sound = mp3): Rule[] {
  const paths = new RegExp(`^${JOBS_PATH}/job-\\d+$`);
  const optional = true;
  let created = 0;
  const create = (): Step[] => {
    created += 1;
    return json(202, {
      task: { taskId: `job-${created}`, status: 'pending', voiceId: VOICE, modelId: 'm' },
      requestId: `r-${created}`,
      quotaRemaining: 1_000 - created,
      creditsUsed: 9,
      ignoredParameters: ['pitch'],
    });
  };
  const poll = answersInSequence(...polled.map((status) => json(200, { task: { status } })));
  return [
    { method: 'POST', path: JOBS_PATH, answer: create },
    { method: 'GET', path: paths, answer: poll, optional },
    { method: 'GET', path: /\/audio$/, answer: audio(sound), optional },
  ];
}

async function withTexts(rules: readonly Rule[], name: string, content: string): Promise<Fixture> {
  const fixture = await createFixture(rules);
  await writeFile(path.join(fixture.sandbox.out, name), content);
  return fixture;
}

function numbered(count: number, before = ''): string {
  return Array.from({ length: count }, (_, index) => `${before}Item ${index}.`).join('\n');
}

const BUDGET = ['-v', VOICE, '-j', '1', '--max-credits', '20', '--credit-rate', '0.1'];

describe('credits that only the create response reports', () => {
  test('count for the budget of a batch', async () => {
    const fixture = await withTexts(jobs(['success']), 'lines.txt', numbered(10));
    const result = await fixture.run(['batch', '--lines', 'lines.txt', ...BUDGET]);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stdout.toString()).toContain('3 done, 0 failed, 0 skipped, 27 credits used');
    expect(result.stderr).toContain('--max-credits');
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(3);
  });

  test('count for the budget of a recording', async () => {
    const fixture = await withTexts(jobs(['success'], wav), 'play.txt', numbered(10, 'A: '));
    const args = ['script', 'play.txt', '-o', 'play.wav', '--cast', `A=${VOICE}`];
    const result = await fixture.run([...args, ...BUDGET.slice(2)]);
    expect(result.code, result.stderr).toBe(3);
    expect(requestsTo(fixture, JOBS_PATH)).toHaveLength(3);
  });

  test('are reported for an item whose job an interrupted batch created', async () => {
    const fixture = await withTexts(jobs(['processing', 'success']), 'one.txt', 'One.');
    const running = await fixture.start(['batch', 'one.txt', '-v', VOICE]);
    await fixture.server.received({ method: 'GET', path: `${JOBS_PATH}/job-1` });
    running.signal('SIGKILL');
    await running.done;
    const result = await fixture.run(['batch', 'one.txt', '-v', VOICE, '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(parseJsonLines(result.stdout.toString()).at(-1)).toMatchObject({ creditsUsed: 9 });
  });
});

function stream(...events: readonly string[]) {
  return {
    method: 'POST',
    path: ALIGNED_PATH,
    answer: answer(200, { 'Content-Type': 'text/event-stream' }, events.join('')),
  };
}

test('a cut response without a known cost counts for the budget with its estimate', async () => {
  const packets = [audioEvent(wav.bytes), snapshotEvent(0, [['Item', 20, 400]])];
  const completed = eventText('completed', {
    requestId: 'r',
    generationId: 'g',
    alignmentStatus: 'complete',
    quotaRemaining: 90,
    creditsUsed: 9,
  });
  const fixture = await withTexts(
    [{ ...stream(...packets), times: 1 }, stream(...packets, completed)],
    'lines.txt',
    numbered(3),
  );
  // The estimate is 7 credits for each item. The first may have cost 7, the second cost 9.
  const budget = ['-j', '1', '--max-credits', '22', '--credit-rate', '1', '--max-retries', '0'];
  const args = ['batch', '--lines', 'lines.txt', '-v', VOICE, '--timings', '--format', 'wav'];
  const result = await fixture.run([...args, ...budget]);
  expect(result.stderr).toContain('1 item not tried');
  expect(requestsTo(fixture, ALIGNED_PATH)).toHaveLength(2);
});

describe('the create response of a job that ends with success', () => {
  const reported = { creditsUsed: 9, quotaRemaining: 999, ignoredParameters: ['pitch'] };

  test.each([
    ['jobs create', ['jobs', 'create', 'hi', '-v', VOICE, '-o', 'a.mp3']],
    ['tts --via job', ['tts', 'hi', '-v', VOICE, '--via', 'job', '-o', 'a.mp3']],
    ['a long text', ['tts', 'word '.repeat(600).trim(), '-v', VOICE, '-o', 'a.mp3']],
  ])('has the credits, quota and ignored parameters that %s reports', async (_name, args) => {
    const fixture = await createFixture(jobs(['processing', 'success']));
    const result = await fixture.run([...args, '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({ ...reported, requestId: 'r-1' });
    expect(result.stderr).toContain('9 credits used');
  });

  test('has the request id that a text in parts reports', async () => {
    const fixture = await createFixture(jobs(['processing', 'success']));
    const long = 'This sentence is one of very many. '.repeat(320).trim();
    const args = ['tts', long, '-v', VOICE, '--via', 'job', '-o', 'a.mp3', '--json'];
    const result = await fixture.run(args);
    expect(result.code, result.stderr).toBe(0);
    const { parts, requestId } = Object(JSON.parse(result.stdout.toString()));
    expect(parts).toBeGreaterThan(1);
    expect(requestId).toMatch(/^r-\d$/);
  });

  test('is not repeated by `jobs wait`, which did not see it', async () => {
    const fixture = await createFixture(jobs(['success']).slice(1));
    const result = await fixture.run(['jobs', 'wait', 'job-1', '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({ creditsUsed: null });
  });
});

test('a failed job costs nothing, although its creation reserved credits', async () => {
  const fixture = await createFixture(jobs(['fail']));
  const result = await fixture.run(['jobs', 'create', 'hi', '-v', VOICE, '--wait', '--json']);
  expect(result.code).toBe(20);
  expect(JSON.parse(result.stdout.toString())).toMatchObject({ status: 'fail', creditsUsed: 0 });
});
