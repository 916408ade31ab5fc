import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { VOICES } from '../../fault-server/healthy-service.ts';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { onSpeech, scene, speechRequests } from '../support/scene.ts';
import { expectSoundIn } from '../support/sound.ts';
import { everyNth } from './voice-scene.ts';
import { requirePosix } from '../../harness/posix.ts';

const [{ voiceId: NADIA }, { voiceId: TOMAS }] = VOICES;

function bodies(stage: Parameters<typeof speechRequests>[0]): unknown[] {
  return speechRequests(stage).map(({ body }) => JSON.parse(body.toString()));
}

describe('voices preview', () => {
  test('speaks one line with each voice, into files of their ids', async () => {
    const stage = await scene([]);
    const args = ['voices', 'preview', NADIA, TOMAS, NADIA, '--text', 'Mind the gap.'];
    const result = await stage.run([...args, '--output-dir', 'a/b']);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
    expect(await readdir(path.join(stage.box.out, 'a/b'))).toStrictEqual(
      [`${NADIA}.mp3`, `${TOMAS}.mp3`].sort(),
    );
    await expectSoundIn(stage.box, `a/b/${TOMAS}.mp3`);
    expect(bodies(stage)).toStrictEqual(
      [NADIA, TOMAS].map((voiceId) => ({ text: 'Mind the gap.', voiceId, format: 'mp3' })),
    );
    const keys = speechRequests(stage).map((request) => request.header('idempotency-key'));
    expect(new Set(keys).size).toBe(2);
  });

  test('has a line of its own, and replaces no file', async () => {
    const stage = await scene([]);
    await writeFile(path.join(stage.box.out, `${NADIA}.wav`), 'mine');
    const args = ['voices', 'preview', NADIA, '--format', 'wav', '-m', 'vendor-s21pro', '--json'];
    const result = await stage.run(args);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      items: [{ output: `${NADIA}-2.wav`, voiceId: NADIA, format: 'wav', creditsUsed: 53 }],
    });
    expect(await readFile(path.join(stage.box.out, `${NADIA}.wav`), 'utf8')).toBe('mine');
    expect(bodies(stage)).toMatchObject([
      { text: expect.stringMatching(/^Hello\./), modelId: 'vendor-s21pro' },
    ]);
  });

  test('through a player alone makes no file', async () => {
    requirePosix('programs that begin with #!');
    const stage = await scene([]);
    const heard = path.join(stage.box.harness, 'heard');
    const player = path.join(stage.box.harness, 'player');
    await writeFile(player, `#!/bin/sh\ncat >> '${heard}'\n`, { mode: 0o755 });
    const result = await stage.run(['voices', 'preview', NADIA, TOMAS, '--player', `"${player}"`]);
    expect(result.code, result.stderr).toBe(0);
    const [one, two] = speechRequests(stage).map(({ answer }) => answer.bytesWritten);
    expect((await readFile(heard)).length).toBeGreaterThan(((one ?? 0) + (two ?? 0)) / 2);
    expect(await readdir(stage.box.out)).toStrictEqual([]);
  });

  test('one voice that fails keeps none of the others from speaking: exit 3', async () => {
    const stage = await scene([]);
    const result = await stage.run(['voices', 'preview', 'unknown', NADIA, '--json']);
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
    const stage = await scene([]);
    const result = await stage.run(['voices', 'preview', 'unknown', 'noone', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 20, code: 'ERR_VOICE_NOT_FOUND' });
    expect(result.stderr).toContain('foley: unknown: not found');
    expect(speechRequests(stage)).toHaveLength(2);
  });

  test('without credits nothing more is asked for', async () => {
    const stage = await scene([onSpeech(faults.errorAnswer(402))]);
    const result = await stage.run(['voices', 'preview', NADIA, TOMAS, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 21 });
    expect(speechRequests(stage)).toHaveLength(1);
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
  [['voices', 'preview', 'a', '--format', 'flac'], '--format is "flac"'],
];

test.each(everyNth(2, REFUSED))('%j is exit 2, and nothing is sent', async (args, reason) => {
  const stage = await scene([]);
  await writeFile(path.join(stage.box.out, 'file'), '');
  const result = await stage.run(args);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(reason);
  expect(stage.server.connections).toBe(0);
});
