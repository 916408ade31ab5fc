import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { startServe } from '../../binary/support/serve.ts';
import { expectSoundIn, longText } from '../../binary/support/sound.ts';
import { putRecording, speechRecording, tone } from '../../binary/voices/recordings.ts';
import { debrisIn } from '../../binary/voices/voice-fixture.ts';

const TIME = { timeout: 120_000 };

function foley(sandbox: Sandbox, ...args: readonly string[]): Promise<RunResult> {
  return runFoley([...args, '--local'], { sandbox, timeoutMs: 100_000 });
}

/** What a command prints, without the end of its line; fails when it fails. */
async function printed(sandbox: Sandbox, ...args: readonly string[]): Promise<string> {
  const result = await foley(sandbox, ...args);
  expect(result.code, result.stderr).toBe(0);
  return result.stdout.toString().trimEnd();
}

async function document(sandbox: Sandbox, ...args: readonly string[]) {
  return Object(parseJsonDocument(Buffer.from(`${await printed(sandbox, ...args, '--json')}\n`)));
}

describe('a voice that is made of a recording', () => {
  test('is listed, speaks, and is deleted', TIME, async () => {
    const sandbox = await createSandbox();
    await printed(sandbox, 'tts', 'This is what I sound like when I speak.', '-o', 'me.wav');
    const clone = ['voices', 'clone', 'Zoltan', 'me.wav', '--language', 'en'];
    const cloned = await foley(sandbox, ...clone, '--description', 'My own words');
    const id = cloned.stdout.toString().trimEnd();
    expect(id).toMatch(/^[\w-]{8,}$/);
    expect(cloned.stderr.replaceAll('\n', ' ')).toContain('Simulated, not a clone of the speaker');

    const mine = { voiceId: id, title: 'Zoltan', description: 'My own words', isPersonal: true };
    const own = await document(sandbox, 'voices', 'list', '--type', 'personal');
    expect(own).toMatchObject({ total: 1, items: [mine] });
    expect(own).toEqual(
      await document(sandbox, 'voices', 'list', '--search', 'ZOLT', '--type', 'all'),
    );
    const all = await document(sandbox, 'voices', 'list', '--all', '--include-personal');
    expect(all.items).toContainEqual(expect.objectContaining({ voiceId: id, isPersonal: true }));
    const openly = await printed(sandbox, 'voices', 'list', '--all');
    expect(openly).not.toContain(id);
    expect(await printed(sandbox, 'voices', 'list', '--api', 'compat')).toContain(id);
    expect(await printed(sandbox, 'voices', 'get', id)).toMatch(/^name +Zoltan$/m);

    await printed(sandbox, 'tts', 'Hello, it is me.', '-v', id, '-o', 'by-id.mp3');
    await printed(
      sandbox,
      'tts',
      'Hello, it is me.',
      '--voice-name',
      'zoltan',
      '-o',
      'by-name.mp3',
    );
    await printed(sandbox, 'voices', 'preview', id, '--output-dir', 'previews');
    for (const name of ['by-id.mp3', 'by-name.mp3', `previews/${id}.mp3`]) {
      await expectSoundIn(sandbox, name);
    }

    expect(await document(sandbox, 'voices', 'delete', id, '--yes')).toStrictEqual({ voiceId: id });
    for (const words of [
      ['voices', 'get', id],
      ['voices', 'delete', id, '--yes'],
    ]) {
      expect(errorLine(await foley(sandbox, ...words, '--json'))).toMatchObject({
        exitCode: 20,
        code: 'ERR_VOICE_NOT_FOUND',
      });
    }
    const left = await debrisIn(sandbox);
    expect(left.filter((name) => name.includes('journal'))).toStrictEqual([]);
  });

  test('stays while something speaks with it: exit 20, and it is said why', TIME, async () => {
    const sandbox = await createSandbox();
    await putRecording(sandbox, 'me.wav', speechRecording());
    const serve = await startServe([], { sandbox });
    const hosted = async (...args: readonly string[]): Promise<RunResult> =>
      runFoley(args, { sandbox, env: serve.env, timeoutMs: 100_000 });
    const made = await hosted('voices', 'create', 'Me', 'me.wav', '-q');
    const id = made.stdout.toString().trim();
    // More than can be spoken before the next command asks.
    const job = ['jobs', 'create', longText(9_000), '-v', id, '-m', 'vendor-s21pro', '-q'];
    for (const _ of [1, 2, 3]) expect((await hosted(...job)).code).toBe(0);
    const refused = errorLine(await hosted('voices', 'delete', id, '--yes', '--json'));
    expect(refused).toMatchObject({ exitCode: 20, status: 409, code: 'ERR_VOICE_IN_USE' });
    expect(refused.message).toContain('is in use and was not deleted');
    const listed = await hosted('voices', 'list', '--type', 'personal', '--json');
    expect(parseJsonDocument(listed.stdout)).toMatchObject({ items: [{ voiceId: id }] });
    serve.running.signal('SIGKILL');
    await serve.running.done;
  });

  test('is not made of what is no speech, and nothing is stored', TIME, async () => {
    const sandbox = await createSandbox();
    const head = tone().subarray(0, 44);
    await putRecording(sandbox, 'nothing.wav', head);
    await putRecording(sandbox, 'cut.wav', tone().subarray(0, 2_000));
    await putRecording(sandbox, 'cut.mp3', Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'));
    for (const name of ['nothing.wav', 'cut.wav']) {
      const error = errorLine(await foley(sandbox, 'voices', 'create', 'Me', name, '--json'));
      expect(error, name).toMatchObject({ exitCode: 20, status: 400, billed: 'no' });
    }
    expect((await foley(sandbox, 'voices', 'create', 'Me', 'cut.mp3')).code).not.toBe(0);
    const own = await document(sandbox, 'voices', 'list', '--type', 'personal');
    expect(own.items).toStrictEqual([]);
  });
});

describe('a voice that is designed', () => {
  test('is heard before, kept, and speaks', TIME, async () => {
    const sandbox = await createSandbox();
    const words = ['An old man, calm and slow', '--preview-text', 'Good evening.'];
    const key = ['--idempotency-key', 'evening'];
    const create = ['design', 'create', ...words, '--output-dir', 'heard', ...key];
    const design = await document(sandbox, ...create);
    const { candidates, designId } = design;
    expect(candidates).toHaveLength(3);
    for (const name of await readdir(path.join(sandbox.out, 'heard'))) {
      await expectSoundIn(sandbox, path.join('heard', name));
    }
    const [{ candidateId, output }] = candidates;
    await printed(sandbox, 'design', 'preview', designId, candidateId, '-o', 'again.mp3');
    const again = await readFile(path.join(sandbox.out, 'again.mp3'));
    expect(again).toStrictEqual(await readFile(path.join(sandbox.out, output)));

    const repeated = await document(sandbox, 'design', 'create', ...words, ...key);
    expect(repeated.designId).toBe(designId);
    expect(repeated.quotaRemaining).toBe(design.quotaRemaining);

    const save = ['design', 'save', designId, candidateId, '--name', 'Old Tom'];
    const id = await printed(sandbox, ...save);
    expect([designId, candidateId]).not.toContain(id);
    await printed(sandbox, 'tts', 'Good evening to you.', '-v', id, '-o', 'evening.mp3');
    await expectSoundIn(sandbox, 'evening.mp3');
    expect(await printed(sandbox, 'voices', 'list', '--include-personal', '--all')).toContain(id);
    await printed(sandbox, 'voices', 'delete', id, '--yes');
  });

  test.each([
    ['design', 'preview', 'nothing', 'nobody', '-o', 'x.mp3'],
    ['design', 'save', 'nothing', 'nobody', '--name', 'x'],
  ])('%s %s of what is not there is exit 20', async (...args) => {
    const sandbox = await createSandbox();
    const error = errorLine(await foley(sandbox, ...args, '--json'));
    expect(error).toMatchObject({ exitCode: 20, status: 404, billed: 'no' });
    expect(error.hint).toContain('Designs are temporary');
  });
});
