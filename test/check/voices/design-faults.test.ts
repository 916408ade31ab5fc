import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import { errorLine } from '../../harness/error-line.ts';
import type { Scene } from '../../binary/support/scene.ts';
import { OPEN, scene } from '../../binary/support/scene.ts';
import { debrisIn, DESIGNS, everyNth, json, MADE } from '../../binary/voices/voice-scene.ts';

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

function keysOf({ server }: Scene): string[] {
  return server.requests.map((request) => request.header('idempotency-key') ?? 'none');
}

describe.each([
  ['design create', DESIGN],
  ['design save', SAVE],
])('%s', (_, create) => {
  test.each(everyNth(3, REPEATED))(
    'is asked for again under the same key after %s',
    async (_fault, reply) => {
      const stage = await scene([rule(create, reply, { times: 1 }), rule(create, create.good)]);
      const result = await stage.run(create.args);
      expect(result.code, result.stderr).toBe(0);
      const [one, two, ...more] = keysOf(stage);
      expect([two, more]).toStrictEqual([one, []]);
      const [first, second] = stage.server.requests;
      expect(second?.body).toStrictEqual(first?.body);
      expect(await debrisIn(stage.box)).toStrictEqual([]);
    },
  );

  test('takes a new key, once, when its own was refunded', async () => {
    const refunded = faults.errorAnswer(409, { code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' });
    const stage = await scene([rule(create, refunded, { times: 1 }), rule(create, create.good)]);
    expect((await stage.run(create.args)).code).toBe(0);
    expect(new Set(keysOf(stage)).size).toBe(2);
    const mine = await scene([rule(create, refunded)]);
    const result = await mine.run([...create.args, '--idempotency-key', 'mine', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, billed: 'no' });
    expect(keysOf(mine)).toStrictEqual(['mine']);
  });

  test('without a response names the key of a free retry, and so does recover', async () => {
    const stage = await scene([rule(create, faults.resetBeforeHeaders())]);
    const result = await stage.run([...create.args, '--max-retries', '1', '--json']);
    const [key = ''] = keysOf(stage);
    expect(errorLine(result)).toMatchObject({ exitCode: 26, billed: 'unknown' });
    expect(errorLine(result).hint).toContain(`--idempotency-key ${key}`);
    expect(await debrisIn(stage.box)).toStrictEqual([OPEN]);
    const told = await stage.run(['recover']);
    expect([told.code, told.stdout.toString()]).toStrictEqual([26, expect.stringContaining(key)]);
  });

  test('stopped with Ctrl-C says how to go on', async () => {
    const stage = await scene([rule(create, faults.silence())]);
    const running = await stage.start(create.args);
    await stage.server.paused();
    running.signal('SIGINT');
    const result = await running.done;
    expect(result.signal).toBe('SIGINT');
    expect(result.stderr).toContain(`--idempotency-key ${keysOf(stage)[0]}`);
    expect(await debrisIn(stage.box)).toStrictEqual([OPEN]);
  });

  test.each(everyNth(3, REFUSED))('%d is exit %d at once', async (status, exitCode) => {
    const stage = await scene([rule(create, faults.errorAnswer(status))]);
    const result = await stage.run([...create.args, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode, status, billed: 'no' });
    expect(stage.server.requests).toHaveLength(1);
    expect(await debrisIn(stage.box)).toStrictEqual([]);
  });

  test('one that was done before is exit 27', async () => {
    const stage = await scene([rule(create, faults.requestAlreadyCompleted())]);
    const result = await stage.run([...create.args, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 27, billed: 'yes' });
  });
});

test('an answer that is cut is exit 25, and is not asked for again by itself', async () => {
  const head = { 'Content-Type': 'application/json' };
  const cut = answer(200, head, '{"designId":').concat({ kind: 'fin' });
  const stage = await scene([rule(DESIGN, cut)]);
  const error = errorLine(await stage.run([...DESIGN.args, '--json']));
  expect(error).toMatchObject({ exitCode: 25, billed: 'unknown' });
  expect(stage.server.requests).toHaveLength(1);
});
