import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import { errorLine } from '../../harness/error-line.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import { OPEN, createFixture } from '../../binary/support/fixture.ts';
import { debrisIn, DESIGNS, everyNth, json, MADE } from '../../binary/voices/voice-fixture.ts';

interface Create {
  readonly args: readonly string[];
  readonly path: string;
  readonly good: Answer;
}

const DESIGN: Create = {
  args: ['design', 'create', 'An old man', '--preview-text', 'Hello.'],
  path: DESIGNS,
  good: json({ designId: 'd-1', candidates: [{ candidateId: 'c-1' }] }),
};
const SAVE: Create = {
  args: ['design', 'save', 'd-1', 'c-1', '--name', 'Tom'],
  path: `${DESIGNS}/d-1/voices`,
  good: json(MADE),
};

const REPEATED: readonly [fault: string, reply: Answer][] = [
  ['no answer', faults.resetBeforeHeaders()],
  ['500', faults.errorAnswer(500)],
  ['503', faults.unavailable('0')],
  ['429', faults.rateLimited('0')],
  ['409 in progress', faults.requestInProgress('0')],
];

const REFUSED: readonly [status: number, exitCode: number][] = [
  [400, 20],
  [401, 4],
  [402, 21],
  [403, 4],
  [404, 20],
  [409, 20],
];

function rule({ path }: Create, reply: Answer, more: Pick<Rule, 'times'> = {}): Rule {
  return { method: 'POST', path, answer: reply, ...more };
}

function keysOf({ server }: Fixture): string[] {
  return server.requests.map((request) => request.header('idempotency-key') ?? 'none');
}

describe.each([
  ['design create', DESIGN],
  ['design save', SAVE],
])('%s', (_, create) => {
  test.each(everyNth(3, REPEATED))(
    'is asked for again under the same key after %s',
    async (_fault, reply) => {
      const fixture = await createFixture([
        rule(create, reply, { times: 1 }),
        rule(create, create.good),
      ]);
      const result = await fixture.run(create.args);
      expect(result.code, result.stderr).toBe(0);
      const [one, two, ...more] = keysOf(fixture);
      expect([two, more]).toStrictEqual([one, []]);
      const [first, second] = fixture.server.requests;
      expect(second?.body).toStrictEqual(first?.body);
      expect(await debrisIn(fixture.sandbox)).toStrictEqual([]);
    },
  );

  test('takes a new key, once, when its own was refunded', async () => {
    const refunded = faults.errorAnswer(409, { code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' });
    const fixture = await createFixture([
      rule(create, refunded, { times: 1 }),
      rule(create, create.good),
    ]);
    expect((await fixture.run(create.args)).code).toBe(0);
    expect(new Set(keysOf(fixture)).size).toBe(2);
    const mine = await createFixture([rule(create, refunded)]);
    const result = await mine.run([...create.args, '--idempotency-key', 'mine', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, billed: 'no' });
    expect(keysOf(mine)).toStrictEqual(['mine']);
  });

  test('without a response names the key of a free retry, and so does recover', async () => {
    const fixture = await createFixture([rule(create, faults.resetBeforeHeaders())]);
    const result = await fixture.run([...create.args, '--max-retries', '1', '--json']);
    const [key = ''] = keysOf(fixture);
    expect(errorLine(result)).toMatchObject({ exitCode: 26, billed: 'unknown' });
    expect(errorLine(result).hint).toContain(`--idempotency-key ${key}`);
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([OPEN]);
    const told = await fixture.run(['recover']);
    expect([told.code, told.stdout.toString()]).toStrictEqual([26, expect.stringContaining(key)]);
  });

  test('stopped with Ctrl-C says how to go on', async () => {
    const fixture = await createFixture([rule(create, faults.silence())]);
    const running = await fixture.start(create.args);
    await fixture.server.paused();
    running.signal('SIGINT');
    const result = await running.done;
    expect(result.signal).toBe('SIGINT');
    expect(result.stderr).toContain(`--idempotency-key ${keysOf(fixture)[0]}`);
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([OPEN]);
  });

  test.each(everyNth(3, REFUSED))('%d is exit %d at once', async (status, exitCode) => {
    const fixture = await createFixture([rule(create, faults.errorAnswer(status))]);
    const result = await fixture.run([...create.args, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode, status, billed: 'no' });
    expect(fixture.server.requests).toHaveLength(1);
    expect(await debrisIn(fixture.sandbox)).toStrictEqual([]);
  });

  test('one that was done before is exit 27', async () => {
    const fixture = await createFixture([rule(create, faults.requestAlreadyCompleted())]);
    const result = await fixture.run([...create.args, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 27, billed: 'yes' });
  });
});

test('an answer that is cut is exit 25, and is not asked for again by itself', async () => {
  const head = { 'Content-Type': 'application/json' };
  const cut = answer(200, head, '{"designId":').concat({ kind: 'fin' });
  const fixture = await createFixture([rule(DESIGN, cut)]);
  const error = errorLine(await fixture.run([...DESIGN.args, '--json']));
  expect(error).toMatchObject({ exitCode: 25, billed: 'unknown' });
  expect(fixture.server.requests).toHaveLength(1);
});
