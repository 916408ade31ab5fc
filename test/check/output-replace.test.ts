import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  audio,
  errorAnswer,
  jsonInsteadOfAudio,
  resetMidBody,
  shortBody,
  slowBody,
  wrongMagic,
} from '../fault-server/catalogue.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import type { Step } from '../fault-server/steps.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { difference, filesOf, snapshot } from '../harness/snapshot.ts';
import { startHostedService } from '../binary/support/hosted-service.ts';
import { expectSoundIn } from '../binary/support/sound.ts';
import { requirePosix } from '../harness/posix.ts';

const { mp3, wav } = await tinyAudio();

async function sandboxWithOldFile() {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, 'hi.mp3');
  await writeFile(file, 'the older file');
  return { sandbox, file };
}

test('an existing file is replaced, and keeps its permissions', async () => {
  requirePosix('files that only their owner can read');
  const { sandbox, file } = await sandboxWithOldFile();
  await chmod(file, 0o626);
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', '--local'], { sandbox });
  expect(result.code, result.stderr).toBe(0);
  await expectSoundIn(sandbox, 'hi.mp3');
  expect((await stat(file)).mode & 0o777).toBe(0o626);
  expect(filesOf(await snapshot(sandbox.out))).toEqual(['hi.mp3']);
});

test('the older file is whole until the new one is', async () => {
  const { server, env } = await startHostedService([
    { method: 'POST', path: SPEECH_PATH, answer: slowBody(mp3) },
  ]);
  const { sandbox, file } = await sandboxWithOldFile();
  const running = await startFoley(['tts', 'Hi', '-o', 'hi.mp3'], { sandbox, env });
  await server.paused();
  expect(await readFile(file, 'utf8')).toBe('the older file');
  await server.advance();
  expect(await running.done).toMatchObject({ code: 0 });
  expect(await readFile(file)).toEqual(mp3.bytes);
});

test.each<readonly [string, number, readonly Step[]]>([
  ['a body that is cut', 25, shortBody(mp3)],
  ['a connection that breaks', 25, resetMidBody(mp3)],
  ['JSON where audio belongs', 25, jsonInsteadOfAudio({ detail: 'odd' })],
  ['text that calls itself audio', 25, wrongMagic()],
  ['another format', 25, audio({ ...wav, type: 'audio/mpeg' })],
  ['a refusal', 20, errorAnswer(400)],
])('%s is exit %i, and the older file stays', async (_, code, answer) => {
  const { env } = await startHostedService([{ method: 'POST', path: SPEECH_PATH, answer }]);
  const { sandbox } = await sandboxWithOldFile();
  const before = await snapshot(sandbox.out);
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', '--max-retries', '0'], {
    sandbox,
    env,
  });
  expect(result.code, result.stderr).toBe(code);
  const changes = difference(before, await snapshot(sandbox.out));
  expect(changes).toEqual({ added: [], removed: [], changed: [] });
});
