import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PROFILE_PATH } from '../fault-server/healthy-service.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { filesOf, snapshot } from '../harness/snapshot.ts';
import { startServe } from '../binary/support/serve.ts';
import { expectSound } from '../binary/support/sound.ts';

interface Balance {
  readonly credits: number;
  readonly api_quota_remaining: number;
}

async function balanceOf(sandbox?: Sandbox): Promise<Balance> {
  const { ask, running } = await startServe([], sandbox === undefined ? {} : { sandbox });
  const balance: Balance = JSON.parse((await ask(PROFILE_PATH)).bytes.toString());
  running.signal('SIGTERM');
  await running.done;
  return balance;
}

test('eight commands at once on a fresh state folder are all right, and paid for once', async () => {
  const sandbox = await createSandbox();
  const names = Array.from({ length: 8 }, (_, index) => `part-${index + 1}.mp3`);
  const results = await Promise.all(
    names.map(async (name, index) => {
      const text = `This is part ${index + 1}. ${'It goes on. '.repeat(index + 1)}`;
      return runFoley(['tts', text, '-o', name, '--json', '--local'], { sandbox });
    }),
  );
  for (const result of results) expect(result.code, result.stderr).toBe(0);
  const durations: number[] = [];
  for (const name of names) {
    const audio = await expectSound(await readFile(path.join(sandbox.out, name)));
    durations.push(audio.durationMs);
  }
  expect(durations).toEqual([...durations].sort((a, b) => a - b));
  expect(filesOf(await snapshot(sandbox.out))).toEqual(names);

  const documents: readonly { creditsUsed: number; quotaRemaining: number }[] = results.map(
    ({ stdout }) => Object(parseJsonDocument(stdout)),
  );
  const used = documents.reduce((sum, { creditsUsed }) => sum + creditsUsed, 0);
  const fresh = await balanceOf();
  const left = await balanceOf(sandbox);
  expect(used).toBeGreaterThan(0);
  expect(left.credits).toBe(fresh.credits - used);
  expect(left.api_quota_remaining).toBe(
    Math.min(...documents.map(({ quotaRemaining }) => quotaRemaining)),
  );
});

test('eight commands that make the same automatic name each have their own file', async () => {
  const sandbox = await createSandbox();
  const results = await Promise.all(
    Array.from({ length: 8 }, () =>
      runFoley(['tts', 'Hi', '--json', '--local', '-q'], { sandbox }),
    ),
  );
  const outputs = results.map(({ stdout }) => String(Object(parseJsonDocument(stdout)).output));
  const expected = ['hi.mp3', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `hi-${number}.mp3`)].sort();
  expect(outputs.sort()).toEqual(expected);
  expect(filesOf(await snapshot(sandbox.out))).toEqual(expected);
});
