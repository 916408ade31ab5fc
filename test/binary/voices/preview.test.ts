import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { VOICES } from '../../fault-server/healthy-service.ts';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { onSpeech, createFixture, speechRequests } from '../support/fixture.ts';
import { expectSoundIn } from '../support/sound.ts';
import { everyNth } from './voice-fixture.ts';
import { requirePosix } from '../../harness/posix.ts';

const [{ voiceId: NADIA }, { voiceId: TOMAS }] = VOICES;

function bodies(fixture: Parameters<typeof speechRequests>[0]): unknown[] {
  return speechRequests(fixture).map(({ body }) => JSON.parse(body.toString()));
}

describe('voices preview', () => {
  test('speaks one line with each voice, into files of their ids', async () => {
    const fixture = await createFixture([]);
    const args = ['voices', 'preview', NADIA, TOMAS, NADIA, '--text', 'Mind the gap.'];
    const result = await fixture.run([...args, '--output-dir', 'a/b']);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
    expect(await readdir(path.join(fixture.sandbox.out, 'a/b'))).toStrictEqual(
      [`${NADIA}.mp3`, `${TOMAS}.mp3`].sort(),
    );
    await expectSoundIn(fixture.sandbox, `a/b/${TOMAS}.mp3`);
    expect(bodies(fixture)).toStrictEqual(
      [NADIA, TOMAS].map((voiceId) => ({ text: 'Mind the gap.', voiceId, format: 'mp3' })),
    );
    const keys = speechRequests(fixture).map((request) => request.header('idempotency-key'));
    expect(new Set(keys).size).toBe(2);
  });

  test('has a line of its own, and replaces no file', async () => {
    const fixture = await createFixture([]);
    await writeFile(path.join(fixture.sandbox.out, `${NADIA}.wav`), 'mine');
    const args = ['voices', 'preview', NADIA, '--format', 'wav', '-m', 'vendor-s21pro', '--json'];
    const result = await fixture.run(args);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      items: [{ output: `${NADIA}-2.wav`, voiceId: NADIA, format: 'wav', creditsUsed: 53 }],
    });
    expect(await readFile(path.join(fixture.sandbox.out, `${NADIA}.wav`), 'utf8')).toBe('mine');
    expect(bodies(fixture)).toMatchObject([
      { text: expect.stringMatching(/^Hello\./), modelId: 'vendor-s21pro' },
    ]);
  });

  test('through a player alone makes no file', async () => {
    requirePosix('programs that begin with #!');
    const fixture = await createFixture([]);
    const heard = path.join(fixture.sandbox.harness, 'heard');
    const player = path.join(fixture.sandbox.harness, 'player');
    await writeFile(player, `#!/bin/sh\ncat >> '${heard}'\n`, { mode: 0o755 });
    const result = await fixture.run([
      'voices',
      'preview',
      NADIA,
      TOMAS,
      '--player',
      `"${player}"`,
    ]);
    expect(result.code, result.stderr).toBe(0);
    const [one, two] = speechRequests(fixture).map(({ answer }) => answer.bytesWritten);
    expect((await readFile(heard)).length).toBeGreaterThan(((one ?? 0) + (two ?? 0)) / 2);
    expect(await readdir(fixture.sandbox.out)).toStrictEqual([]);
  });

  test('one voice that fails keeps none of the others from speaking: exit 3', async () => {
    const fixture = await createFixture([]);
    const result = await fixture.run(['voices', 'preview', 'unknown', NADIA, '--json']);
    expect(result.code).toBe(3);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      items: [
        { voiceId: 'unknown', output: null, error: { code: 'ERR_VOICE_NOT_FOUND', exitCode: 20 } },
        { voiceId: NADIA, output: `${NADIA}.mp3` },
      ],
    });
    expect(result.stderr).toContain('foley: unknown: not found');
  });

  test('when all fail it ends as the last one did', async () => {
    const fixture = await createFixture([]);
    const result = await fixture.run(['voices', 'preview', 'unknown', 'noone', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, code: 'ERR_VOICE_NOT_FOUND' });
    expect(result.stderr).toContain('foley: unknown: not found');
    expect(speechRequests(fixture)).toHaveLength(2);
  });

  test('without credits nothing more is asked for', async () => {
    const fixture = await createFixture([onSpeech(faults.errorAnswer(402))]);
    const result = await fixture.run(['voices', 'preview', NADIA, TOMAS, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 21 });
    expect(speechRequests(fixture)).toHaveLength(1);
  });
});

const REFUSED: readonly [args: string[], reason: string][] = [
  [['voices', 'preview'], "missing required argument 'id'"],
  [['voices', 'preview', ''], 'ID is empty'],
  [
    ['voices', 'preview', 'a', 'b', '--idempotency-key', 'k'],
    '--idempotency-key is for one request',
  ],
  [['voices', 'preview', 'a', 'b', '--request-id', 'k'], '--request-id is for one request'],
  [['voices', 'preview', 'a', '--text', ' '], '--text is empty'],
  [
    ['voices', 'preview', 'a', '--output-dir', 'file'],
    '--output-dir is file, which is a file, but previews',
  ],
  [
    ['voices', 'preview', 'a', '--output-dir', '-'],
    '--output-dir is "-", but previews require a folder',
  ],
  [
    ['voices', 'preview', 'a', '--player', 'no-such-program'],
    'the program no-such-program is not installed',
  ],
  [['voices', 'preview', 'a', '--format', 'aac'], '--format is "aac"'],
];

test.each(everyNth(2, REFUSED))('%j is exit 2, and nothing is sent', async (args, reason) => {
  const fixture = await createFixture([]);
  await writeFile(path.join(fixture.sandbox.out, 'file'), '');
  const result = await fixture.run(args);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(reason);
  expect(fixture.server.connections).toBe(0);
});
