import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { errorLine } from '../../harness/error-line.ts';
import { answer } from '../../fault-server/http-text.ts';
import { VOICES } from '../../fault-server/healthy-service.ts';
import type { Answer, Rule } from '../../fault-server/script.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { startInTerminal } from '../../harness/terminal.ts';
import { createFixture } from '../../binary/support/fixture.ts';
import { json, VOICES_V1 } from '../../binary/voices/voice-fixture.ts';

const [, MINE] = VOICES;
const ID = MINE.voiceId;

function onDelete(reply: Answer, more: Pick<Rule, 'times'> = {}): Rule {
  return { method: 'DELETE', path: `${VOICES_V1}/${ID}`, answer: reply, ...more };
}

describe('voices delete --yes', () => {
  test.each<[string, Answer, unknown]>([
    ['as the spec has it', json({ voiceId: ID }), { voiceId: ID }],
    ['with more', json({ voiceId: ID, requestId: 'r' }), { voiceId: ID, requestId: 'r' }],
    ['without a body', answer(204), { voiceId: ID }],
  ])('deletes; the answer is %s', async (_, reply, document) => {
    const fixture = await createFixture([onDelete(reply)]);
    const result = await fixture.run(['voices', 'delete', ID, '--yes', '--json', '-q']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(parseJsonDocument(result.stdout)).toStrictEqual(document);
    const request = await fixture.server.received();
    expect(request.body).toHaveLength(0);
    expect(request.header('content-type')).toBeUndefined();
  });

  test('says so on stderr, and nothing on stdout', async () => {
    const fixture = await createFixture([onDelete(json({ voiceId: ID }))]);
    const result = await fixture.run(['voices', 'delete', ID, '--yes']);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
    expect(result.stderr).toBe(`deleted the voice ${ID}\n`);
  });

  test('a voice in use is exit 20, and it is said what to do', async () => {
    const code = 'ERR_VOICE_IN_USE';
    const fixture = await createFixture([onDelete(faults.errorAnswer(409, { code }))]);
    const result = await fixture.run(['voices', 'delete', ID, '--yes', '--json']);
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 20, code, status: 409, billed: 'no' });
    expect(error.message).toContain(`voice ${ID} is in use and was not deleted`);
    expect(error.hint).toContain('foley jobs list');
    expect(fixture.server.requests).toHaveLength(1);
  });

  test('one that is not there, or not yours, is exit 20', async () => {
    const fixture = await createFixture([onDelete(faults.errorAnswer(404))]);
    const result = await fixture.run(['voices', 'delete', ID, '--yes', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, status: 404 });
  });

  test('one that is gone when it is asked again, after an answer was lost, is deleted', async () => {
    const fixture = await createFixture([
      onDelete(faults.resetBeforeHeaders(), { times: 1 }),
      onDelete(faults.errorAnswer(404)),
    ]);
    const result = await fixture.run(['voices', 'delete', ID, '--yes', '--json', '-q']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(parseJsonDocument(result.stdout)).toStrictEqual({ voiceId: ID });
  });

  test('but not when nothing can have been done before', async () => {
    const fixture = await createFixture([
      onDelete(faults.rateLimited('0'), { times: 1 }),
      onDelete(faults.errorAnswer(404)),
    ]);
    expect((await fixture.run(['voices', 'delete', ID, '--yes'])).code).toBe(20);
  });

  test.each([
    ['', 'ID is empty'],
    ['..', '".." is not a valid id'],
  ])('the id "%s" is exit 2', async (id, reason) => {
    const fixture = await createFixture([]);
    const result = await fixture.run(['voices', 'delete', id, '--yes']);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(reason);
    expect(fixture.server.connections).toBe(0);
  });
});

describe('voices delete without --yes', () => {
  test('is exit 2 where there is no terminal', async () => {
    const fixture = await createFixture([]);
    const result = await fixture.run(['voices', 'delete', ID]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('Add --yes');
    expect(fixture.server.connections).toBe(0);
  });

  test('and with --no-input also at one', async () => {
    const fixture = await createFixture([]);
    const { sandbox, env } = fixture;
    const running = await startInTerminal(['voices', 'delete', ID, '--no-input'], { sandbox, env });
    const { code, stdout } = await running.done;
    expect([code, stdout.toString()]).toStrictEqual([2, expect.stringContaining('--no-input')]);
    expect(fixture.server.connections).toBe(0);
  });

  test.each([
    ['y\r', 0],
    ['n\r', 2],
    ['\u0004', 2],
  ])('asks at a terminal; %j ends with %d', async (typed, code) => {
    const rules = code === 0 ? [onDelete(json({ voiceId: ID }))] : [];
    const { sandbox, env, server } = await createFixture(rules);
    const running = await startInTerminal(['voices', 'delete', ID], { sandbox, env });
    await running.waitFor(
      'stdout',
      /Delete the voice "Tomas" \(c2f1d3a4[-\w]+\) permanently\? \[y\/N\] /,
    );
    running.write(typed);
    const result = await running.done;
    expect(result.code, result.stdout.toString()).toBe(code);
    expect(server.requests.map(({ method }) => method)).toStrictEqual(
      code === 0 ? ['GET', 'DELETE'] : ['GET'],
    );
  });

  test('Ctrl-C at the question deletes nothing', async () => {
    const { sandbox, env, server } = await createFixture([]);
    const running = await startInTerminal(['voices', 'delete', ID], { sandbox, env });
    await running.waitFor('stdout', /\[y\/N\] /);
    running.write('\u0003');
    expect((await running.done).code).toBe(130);
    expect(server.requests.map(({ method }) => method)).toStrictEqual(['GET']);
  });
});
