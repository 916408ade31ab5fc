import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROFILE_PATH, SPEECH_PATH, VOICES_PATH } from '../fault-server/healthy-service.ts';
import { canaryKey } from '../harness/canary.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { codeOf, startServe } from '../binary/support/serve.ts';
import { requirePosix } from '../harness/posix.ts';

const JOBS_PATH = `${SPEECH_PATH}/jobs`;
const JOBS_V1_PATH = '/api/open/v1/speech/tts/jobs';

async function sandboxWithKeys(text: string, mode = 0o600): Promise<Sandbox> {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, 'keys.txt');
  await writeFile(file, text);
  if (mode !== 0o600) requirePosix('files that only their owner can read');
  await chmod(file, mode);
  return sandbox;
}

/** Request options with this API key. */
function as(key: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { Authorization: `Bearer ${key}` } };
}

async function jsonOf(
  service: ServingFoley,
  key: string,
  url: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const post = body === undefined ? {} : ({ method: 'POST', body } as const);
  const { bytes } = await service.ask(url, { ...as(key), ...post });
  return Object(JSON.parse(bytes.toString()));
}

describe('--accept-keys-file', () => {
  test('accepts its keys, each for its account, and no other', async () => {
    const [alice, alsoAlice, bob] = [canaryKey(), canaryKey(), canaryKey()];
    const sandbox = await sandboxWithKeys(
      `# keys\n${alice} alice\n${alsoAlice} alice\n${bob} bob\n`,
    );
    const service = await startServe(['--accept-keys-file', 'keys.txt'], { sandbox });
    const profiles = await Promise.all(
      [alice, alsoAlice, bob].map((key) => jsonOf(service, key, PROFILE_PATH)),
    );
    expect(profiles.map((profile) => profile['user_id'])).toEqual(['alice', 'alice', 'bob']);
    expect((await service.ask(PROFILE_PATH, as('other'))).status).toBe(401);
    expect((await service.ask('/healthz', as(''))).status).toBe(200);
  });

  test('keeps the jobs, audio, credits and keys of requests of accounts apart', async () => {
    const [alice, bob] = [canaryKey(), canaryKey()];
    const sandbox = await sandboxWithKeys(`${alice} alice\n${bob} bob\n`);
    const service = await startServe(['--accept-keys-file', 'keys.txt'], { sandbox });
    const { items } = await jsonOf(service, alice, VOICES_PATH);
    const { voiceId } = Object(items)[0];
    const body = { text: 'Only for me.', voiceId };
    const created = await jsonOf(service, alice, JOBS_PATH, body);
    const id = String(Object(created['task']).taskId);
    const status = async () => {
      const { task } = await jsonOf(service, alice, `${JOBS_PATH}/${id}`);
      return Object(task).status;
    };
    await expect.poll(status).toBe('success');
    const doors = [
      `${JOBS_PATH}/${id}`,
      `${JOBS_PATH}/${id}/audio`,
      `${JOBS_PATH}/${id}/segments/0`,
      `${JOBS_V1_PATH}/${id}`,
      `/api/open/tts/jobs/${id}/audio`,
    ];
    for (const door of doors) {
      const mine = await service.ask(door, as(alice));
      expect([200, 302], door).toContain(mine.status);
      const theirs = await service.ask(door, as(bob));
      expect([theirs.status, codeOf(theirs.bytes)], door).toEqual([404, 'ERR_JOB_NOT_FOUND']);
    }
    for (const list of [JOBS_PATH, JOBS_V1_PATH]) {
      expect((await jsonOf(service, alice, list))['items']).toHaveLength(1);
      expect((await jsonOf(service, bob, list))['items']).toEqual([]);
    }
    expect(await jsonOf(service, bob, PROFILE_PATH)).toMatchObject({ credits: 1_000_000 });
  });

  test('- reads them from stdin, and no key is printed', async () => {
    const key = canaryKey();
    const args = ['serve', '--port', '0', '--accept-keys-file', '-'];
    const running = await startFoley(args, { input: `${key}\n` });
    const [line] = await running.waitFor('stdout', /^.*\n/);
    expect(line).toMatch(/^foley service ready: FOLEY_BASE_URL=\S+ \(keys: -\)\n$/);
    running.signal('SIGTERM');
    expect(await running.done).toMatchObject({ stderr: '' });
  });

  test('warns when others may read the file, and continues', async () => {
    const sandbox = await sandboxWithKeys(`${canaryKey()}\n`, 0o644);
    const { running } = await startServe(['--accept-keys-file', 'keys.txt'], { sandbox });
    expect(running.stderr).toMatch(
      /"keys\.txt contains API keys and is readable by others \(0644\)/,
    );
  });

  test.each([
    ['', /keys\.txt contains no API key/],
    [`good one\n${canaryKey()} bob more\n`, /keys\.txt: line 2 has more than an API key/],
    [`a\n\nb\na\n`, /keys\.txt: line 4 repeats the API key of line 1/],
  ])('that cannot be used is exit 2 with the line: %#', async (text, problem) => {
    const sandbox = await sandboxWithKeys(text);
    const result = await runFoley(['serve', '--port', '0', '--accept-keys-file', 'keys.txt'], {
      sandbox,
    });
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(problem);
  });

  test('that is not there is exit 2', async () => {
    const result = await runFoley(['serve', '--port', '0', '--accept-keys-file', 'none.txt']);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(/--accept-keys-file none\.txt: no such file/);
  });

  test('opens addresses other than loopback, which are refused without', async () => {
    // An address for documentation: no machine has it, so that nothing listens anywhere.
    const flags = ['serve', '--port', '0', '--host', '192.0.2.1'];
    const refused = await runFoley(flags);
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toMatch(/--host is 192\.0\.2\.1; without a keys file/);
    expect(refused.stderr).toMatch(/--accept-keys-file/);
    const sandbox = await sandboxWithKeys(`${canaryKey()}\n`);
    const tried = await runFoley([...flags, '--accept-keys-file', 'keys.txt'], { sandbox });
    expect(tried.code, tried.stderr).toBe(2);
    expect(tried.stderr).toMatch(/192\.0\.2\.1 port 0 cannot be listened on/);
  });
});
