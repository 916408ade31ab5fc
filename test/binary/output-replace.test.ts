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
import { sandbox } from '../harness/sandbox.ts';
import { difference, filesOf, snapshot } from '../harness/snapshot.ts';
import { startHostedService } from './support/hosted-service.ts';
import { expectSoundIn } from './support/sound.ts';
import { requirePosix } from '../harness/posix.ts';

const { mp3, wav } = await tinyAudio();

async function boxWithOldFile() {
  const box = await sandbox();
  const file = path.join(box.out, 'hi.mp3');
  await writeFile(file, 'the older file');
  return { box, file };
}

test('an existing file is replaced, and keeps its permissions', async () => {
  requirePosix('files that only their owner can read');
  const { box, file } = await boxWithOldFile();
  await chmod(file, 0o626);
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', '--local'], { box });
  expect(result.code, result.stderr).toBe(0);
  await expectSoundIn(box, 'hi.mp3');
  expect((await stat(file)).mode & 0o777).toBe(0o626);
  expect(filesOf(await snapshot(box.out))).toEqual(['hi.mp3']);
});

test('the older file is whole until the new one is', async () => {
  const { server, env } = await startHostedService([
    { method: 'POST', path: SPEECH_PATH, answer: slowBody(mp3) },
  ]);
  const { box, file } = await boxWithOldFile();
  const running = await startFoley(['tts', 'Hi', '-o', 'hi.mp3'], { box, env });
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
  const { box } = await boxWithOldFile();
  const before = await snapshot(box.out);
  const result = await runFoley(['tts', 'Hi', '-o', 'hi.mp3', '--max-retries', '0'], { box, env });
  expect(result.code, result.stderr).toBe(code);
  const changes = difference(before, await snapshot(box.out));
  expect(changes).toEqual({ added: [], removed: [], changed: [] });
});
