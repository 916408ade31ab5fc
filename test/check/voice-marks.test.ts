import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { VOICES } from '../fault-server/healthy-service.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { Fixture } from '../binary/support/fixture.ts';
import { createFixture, speechRequests } from '../binary/support/fixture.ts';
import { killedAfter } from './buying/killed-after.ts';

const [NADIA, TOMAS] = VOICES;
const TEXT = `One.\n[voice tomas]\nTwo.\n[voice ${NADIA.voiceId}]\nThree.\n`;

async function speak(fixture: Fixture, input: string, more: readonly string[]) {
  return fixture.run(['tts', '-o', 'a.mp3', ...more], { input });
}

function sent(fixture: Fixture): readonly unknown[] {
  const bodies = speechRequests(fixture).map(({ body }) => JSON.parse(body.toString()));
  const orders = bodies.map(({ text, voiceId }) => [text.trim(), voiceId]);
  return orders.toSorted(([one], [other]) => one.localeCompare(other));
}

test('each part of a text is requested with its voice', async () => {
  const fixture = await createFixture([]);
  const result = await speak(fixture, TEXT, ['-v', NADIA.voiceId, '--voices', '--via', 'sync']);
  expect(result.code, result.stderr).toBe(0);
  expect(sent(fixture)).toEqual([
    ['One.', NADIA.voiceId],
    ['Three.', NADIA.voiceId],
    ['Two.', TOMAS.voiceId],
  ]);
});

test('a text that begins with a voice needs no other one', async () => {
  const fixture = await createFixture([]);
  const result = await speak(fixture, '[voice Tomas]\nHi.', [
    '--voices',
    '--json',
    '--via',
    'sync',
  ]);
  expect(result.code, result.stderr).toBe(0);
  expect(JSON.parse(result.stdout.toString())).toMatchObject({ voiceId: TOMAS.voiceId });
  expect(sent(fixture)).toEqual([['Hi.', TOMAS.voiceId]]);
});

test('without --voices a mark is text', async () => {
  const fixture = await createFixture([]);
  const result = await speak(fixture, '[voice Tomas]\nHi.', ['-v', NADIA.voiceId]);
  expect(result.code, result.stderr).toBe(0);
  expect(sent(fixture)).toEqual([['[voice Tomas]\nHi.', NADIA.voiceId]]);
});

test.each([[[]], [['--dry-run']]])(
  'an unknown voice is exit 2 before anything is bought: %j',
  async (more) => {
    const fixture = await createFixture([]);
    const input = 'One.\n[voice Tomaz]\nTwo.';
    const result = await speak(fixture, input, ['-v', NADIA.voiceId, '--voices', ...more]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('[voice] is "Tomaz", and no voice has that name');
    expect(result.stderr).toContain('Did you mean Tomas?');
    expect(sent(fixture)).toEqual([]);
  },
);

test('a killed command is continued with the same voices', async () => {
  const plain = await createSandbox();
  const args = ['tts', '-f', 'a.txt', '--voices', '-o', 'a.wav', '--local'];
  const text = 'This is Clara.\n[voice Martin]\nThis is Martin.\n';
  await writeFile(path.join(plain.out, 'a.txt'), text);
  expect((await runFoley(args, { sandbox: plain })).code).toBe(0);
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'a.txt'), text);
  const { env } = await killedAfter(sandbox, 3);
  expect((await runFoley(args, { sandbox, env })).signal).toBe('SIGKILL');
  const recovered = await runFoley(['recover', '--local'], { sandbox });
  expect(recovered.code, recovered.stderr).toBe(0);
  const [one, other] = await Promise.all(
    [plain, sandbox].map(({ out }) => readFile(path.join(out, 'a.wav'))),
  );
  expect(other).toEqual(one);
});
