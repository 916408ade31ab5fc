import { describe, expect, test } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import type { FaultServer } from '../fault-server/fault-server.ts';
import { startFaultServer } from '../fault-server/fault-server.ts';
import { healthyService, PROFILE_PATH } from '../fault-server/healthy-service.ts';
import { answer } from '../fault-server/http-text.ts';
import type { Rule } from '../fault-server/script.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { errorLine } from '../harness/error-line.ts';
import { hosted } from '../harness/hosted.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunResult } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { unsafeCharacters } from '../harness/unsafe-characters.ts';

async function service(...rules: readonly Rule[]): Promise<FaultServer> {
  return startFaultServer([...rules, ...healthyService({ audio: await tinyAudio() })]);
}

function profile(server: FaultServer, ...args: readonly string[]): Promise<RunResult> {
  return runFoley(['profile', ...args, '--max-retries', '0'], { env: hosted(server) });
}

function json(body: unknown): Rule {
  const headers = { 'Content-Type': 'application/json' };
  return { path: PROFILE_PATH, answer: answer(200, headers, JSON.stringify(body)) };
}

describe('foley profile', () => {
  test('shows id, tier, credits and quota', async () => {
    const result = await profile(await service());
    expect(result.stdout.toString()).toBe(
      'id              u-1\ntier            studio\ncredits         1234.5 credits\nAPI quota left  990000 units\n',
    );
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  test('--json prints the whole body, including unknown fields', async () => {
    const body = { user_id: 'u', api_quota_remaining: 1, tier: 't', credits: 2, later: { x: [1] } };
    const result = await profile(await service(json(body)), '--json');
    expect(parseJsonDocument(result.stdout)).toStrictEqual(body);
  });

  test('the query of a webhook is not shown to a person', async () => {
    const webhookUrl = 'https://hooks.test/a?secret=s3cret';
    const body = { user_id: 'u', api_quota_remaining: 1, tier: 't', credits: 2, webhookUrl };
    const result = await profile(await service(json(body)));
    expect(result.stdout.toString()).toContain('webhook         https://hooks.test/a?[redacted]');
    expect(result.stdout.toString()).not.toContain('s3cret');
  });

  test('hostile strings in it do no harm', async () => {
    const text = Object.values(faults.HOSTILE_STRINGS).join(' ');
    const body = {
      user_id: text,
      api_quota_remaining: 1,
      tier: text,
      credits: 2,
      webhookUrl: text,
    };
    const server = await service(json({ ...body, later: faults.HOSTILE_STRINGS }));
    const [human, machine] = [await profile(server), await profile(server, '--json')];
    expect(human.stdout.toString().split('\n')).toHaveLength(6);
    expect(unsafeCharacters(human.stdout)).toEqual([]);
    expect(unsafeCharacters(machine.stdout)).toEqual([]);
    expect(parseJsonDocument(machine.stdout)).toMatchObject(JSON.parse(JSON.stringify(body)));
  });

  test.each([
    [401, 4],
    [402, 21],
    [403, 4],
    [429, 22],
    [500, 23],
  ])('%d is exit %d, with nothing on stdout', async (status, exitCode) => {
    const rule = { path: PROFILE_PATH, answer: faults.errorAnswer(status) };
    const result = await profile(await service(rule), '--json');
    expect(errorLine(result)).toMatchObject({ exitCode, status, billed: 'no' });
    expect(result.stdout.toString()).toBe('');
  });
});

describe('foley profile set', () => {
  test('sends the webhook and nothing else', async () => {
    const server = await service();
    const result = await profile(server, 'set', '--webhook-url', 'https://hooks.test/a?k=v');
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
    expect(result.stderr).toBe('the webhook is https://hooks.test/a?[redacted]\n');
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', path: PROFILE_PATH });
    expect(request?.header('content-type')).toBe('application/json');
    expect(request?.body.toString()).toBe('{"webhookUrl":"https://hooks.test/a?k=v"}');
  });

  test('--json prints what the service answers', async () => {
    const result = await profile(
      await service(),
      'set',
      '--webhook-url',
      'https://h.test',
      '--json',
    );
    expect(parseJsonDocument(result.stdout)).toMatchObject({ user_id: 'u-1' });
  });

  test.each([
    ['nothing', [], "required option '--webhook-url <url>' not specified"],
    ['a password', ['--webhook-url', 'https://u:pw@h.test/'], 'contains a user name or password'],
    ['no address', ['--webhook-url', 'hooks.test'], '--webhook-url is "hooks.test"'],
    ['another scheme', ['--webhook-url', 'ftp://hooks.test'], 'it takes an http or https address'],
    ['white space', ['--webhook-url', ' https://h.test'], 'it takes an http or https address'],
    [
      'too long a one',
      ['--webhook-url', `https://h.test/${'x'.repeat(2_100)}`],
      'at most 2048 are allowed',
    ],
  ])('%s is refused before anything is sent', async (_what, flags, message) => {
    const server = await startFaultServer([]);
    const result = await profile(server, 'set', ...flags);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain(message);
    expect(server.connections).toBe(0);
  });

  test('the embedded service keeps it, and says that it never calls it', async () => {
    const sandbox = await createSandbox();
    const set = ['profile', 'set', '--webhook-url', 'https://hooks.test/a', '--local'];
    const told = await runFoley(set, { sandbox });
    expect(told.stderr).toBe(
      'the webhook is https://hooks.test/a; the embedded service stores it, but never calls it\n',
    );
    const result = await runFoley(['profile', '--local'], { sandbox });
    expect(result.stdout.toString()).toContain('webhook         https://hooks.test/a\n');
    const clear = await runFoley(['profile', 'set', '--webhook-url', '', '--local'], { sandbox });
    expect(clear.stderr).toBe('cleared the webhook\n');
    const cleared = await runFoley(['profile', '--local'], { sandbox });
    expect(cleared.stdout.toString()).not.toContain('webhook');
  });
});
