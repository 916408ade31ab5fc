import { readFile, watch } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { decodeAudio, isSilent } from '../harness/decode-audio.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/engine/', import.meta.url));
const MISBEHAVING = fileURLToPath(
  new URL('../service/engine/process/engines/misbehaving.mjs', import.meta.url),
);

const FAULTY = fileURLToPath(
  new URL('../service/engine/process/engines/faulty.mjs', import.meta.url),
);

const ADD_MORSE = ['engine', 'add', 'morse', '--', 'node', 'morse.mjs'];

describe('foley engine', () => {
  test('adds the example engine from where it is, lists it and removes it', async () => {
    const sandbox = await createSandbox();
    const added = await runFoley(ADD_MORSE, { sandbox, cwd: EXAMPLES });
    expect(added.code, added.stderr).toBe(0);
    expect(added.stderr).toBe('added morse: 1 voice in en\n');

    const listed = await runFoley(['engine', 'list', '--json'], { sandbox });
    expect(parseJsonDocument(listed.stdout)).toEqual({
      total: 1,
      items: [
        {
          name: 'morse',
          version: '1.0.0',
          license: 'MIT',
          command: 'node',
          args: ['morse.mjs'],
          cwd: path.resolve(EXAMPLES),
          voices: [
            {
              id: 'key',
              name: 'key',
              language: 'en',
              sampleRate: 8_000,
              pitch: true,
              textNormalization: true,
              words: true,
            },
          ],
        },
      ],
    });
    expect((await runFoley(['engine'], { sandbox })).stdout.toString()).toMatch(
      /^NAME .*\nmorse +1\.0\.0 +MIT +1 +en +node morse\.mjs\n$/,
    );

    const removed = await runFoley(['engine', 'remove', 'morse'], { sandbox });
    expect(removed.stderr).toBe('removed morse\n');
    const none = await runFoley(['engine', 'list'], { sandbox });
    expect(none).toMatchObject({ stdout: Buffer.alloc(0) });
    expect(none.stderr).toMatch(/^No engines\./);
  });

  test('gives the service a voice that speaks', async () => {
    const sandbox = await createSandbox();
    await runFoley(ADD_MORSE, { sandbox, cwd: EXAMPLES });
    const spoken = await runFoley(
      ['tts', 'sos', '--voice-name', 'key', '-o', 'sos.wav', '--json'],
      { sandbox, cwd: sandbox.out },
    );
    expect(spoken.code, spoken.stderr).toBe(0);
    const sound = await decodeAudio(await readFile(path.join(sandbox.out, 'sos.wav')));
    expect(sound.sampleRate).toBe(8_000);
    expect(isSilent(sound)).toBe(false);

    await runFoley(['engine', 'remove', 'morse'], { sandbox });
    const gone = await runFoley(['tts', 'sos', '--voice-name', 'key'], { sandbox });
    expect(gone.code).toBe(2);
    expect(gone.stderr).toMatch(/no voice has that name/);
  });

  test.each([
    [
      'one that breaks the protocol',
      ['bad', '--', 'node', MISBEHAVING, 'writes a log'],
      /stdout, which is for messages/,
    ],
    [
      'one that ends early',
      ['bad', '--', 'node', MISBEHAVING, 'dies in the middle'],
      /exit code 3[\s\S]*out of memory/,
    ],
    [
      'two voices of one id',
      ['bad', '--', 'node', MISBEHAVING, 'has a twin'],
      /two voices with the id v/,
    ],
    ['a program that does not exist', ['bad', '--', 'no-such-program'], /no-such-program/],
    [
      'one that foley cannot install',
      ['festival'],
      /cannot install "festival"[\s\S]*foley engine add NAME -- PROGRAM/,
    ],
    ['a name that may not be', ['../x', '--', 'node'], /is not a valid engine name/],
  ])('refuses %s with exit 2, and adds nothing', async (_, args, reason) => {
    const sandbox = await createSandbox();
    const refused = await runFoley(['engine', 'add', ...args], { sandbox });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(reason);
    const listed = await runFoley(['engine', 'list', '--json'], { sandbox });
    expect(parseJsonDocument(listed.stdout)).toEqual({ total: 0, items: [] });
  });

  test('tests an added engine rule by rule', async () => {
    const sandbox = await createSandbox();
    await runFoley(ADD_MORSE, { sandbox, cwd: EXAMPLES });
    const tested = await runFoley(['engine', 'test', 'morse', '--json'], { sandbox });
    expect(tested.code, tested.stderr).toBe(0);
    const document = Object(parseJsonDocument(tested.stdout));
    expect(document).toMatchObject({ name: 'morse', ok: true, passed: 14, warnings: 1, failed: 0 });
    expect(document.rules[0]).toEqual({
      rule: 'hello',
      title: 'the engine starts and says hello in time',
      status: 'passed',
      found: expect.stringMatching(/^version 1, 1 voice, after \d+\.\d s$/),
      mend: null,
    });

    const unknown = await runFoley(['engine', 'test', 'mores'], { sandbox });
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(/no such engine: mores[\s\S]*morse/);
  });

  test('says which rule an engine breaks and what to mend, with exit 2', async () => {
    const sandbox = await createSandbox();
    const added = await runFoley(['engine', 'add', 'bad', '--', 'node', FAULTY, 'clips'], {
      sandbox,
    });
    expect(added.code, added.stderr).toBe(0);
    const tested = await runFoley(['engine', 'test', 'bad'], { sandbox });
    expect(tested.code).toBe(2);
    expect(tested.stdout.toString()).toMatch(
      /^RESULT +RULE +FOUND\npassed +hello [\s\S]*\nfailed +clipping +speech is not clipped: voice a has \d+ runs[\s\S]*Lower the level before/,
    );
    expect(tested.stderr).toMatch(/^\d+ passed, 1 warning, [12] failed\n$/);
  });

  test('finds that espeak-ng keeps every rule', async () => {
    const sandbox = await createSandbox();
    const add = [
      'engine',
      'add',
      'espeak',
      '--',
      'node',
      path.resolve('engines/espeak-ng/engine.mjs'),
    ];
    expect((await runFoley(add, { sandbox })).code).toBe(0);
    const tested = await runFoley(['engine', 'test', 'espeak', '--json'], { sandbox });
    expect(Object(parseJsonDocument(tested.stdout))).toMatchObject({ warnings: 0, failed: 0 });
  });

  test('distinguishes an unwritable state folder from a broken engine', async () => {
    const sandbox = await createSandbox();
    const env = { XDG_STATE_HOME: '/dev/null/nowhere' };
    const refused = await runFoley(
      [...ADD_MORSE.slice(0, 3), '--json', '--', 'node', 'morse.mjs'],
      {
        sandbox,
        env,
        cwd: EXAMPLES,
      },
    );
    expect(errorLine(refused)).toMatchObject({ code: 'state', exitCode: 32 });
  });

  test('stops the engine when the user stops foley', async () => {
    const sandbox = await createSandbox();
    const started = untilThere(sandbox.temporary, 'started');
    const file = path.join(sandbox.temporary, 'started');
    const args = ['engine', 'add', 'bad', '--', 'node', MISBEHAVING, 'never says hello', file];
    const stopped = await runFoley(args, {
      sandbox,
      signalAt: { signal: 'SIGINT', when: started },
    });
    expect(stopped.signal).toBe('SIGINT');
  });
});

async function untilThere(folder: string, name: string): Promise<void> {
  for await (const { filename } of watch(folder)) {
    if (filename === name) return;
  }
}
