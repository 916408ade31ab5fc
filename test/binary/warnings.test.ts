import { describe, expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startServe } from './support/serve.ts';
import { expectSoundIn } from './support/sound.ts';

/** Whatever Node advises against ends the command, and not only a person's calm. */
const STRICT = { NODE_OPTIONS: '--throw-deprecation' };

async function runStrictly(args: readonly string[], env: Readonly<Record<string, string>>) {
  const sandbox = await createSandbox();
  const result = await runFoley(args, { sandbox, env: { ...env, ...STRICT } });
  expect(result.stderr, args.join(' ')).not.toMatch(/\(node:\d+\)|Warning/);
  expect(result.code, result.stderr).toBe(0);
  return sandbox;
}

const TEXT = 'All is well.';
const COMMANDS: readonly (readonly [args: string, sound: string | undefined])[] = [
  ['voices list', undefined],
  [`tts ${TEXT} -o a.mp3`, 'a.mp3'],
  [`tts ${TEXT} -o a.wav --subtitles a.srt`, 'a.wav'],
  [`jobs create ${TEXT} -o a.ogg`, 'a.ogg'],
  [`live ${TEXT} -o a.wav`, 'a.wav'],
];

describe('Node has nothing to say on stderr', () => {
  test.each(COMMANDS)('foley %s', async (args, sound) => {
    const sandbox = await runStrictly(args.split(' '), { FOLEY_TARGET: 'local' });
    if (sound !== undefined) await expectSoundIn(sandbox, sound);
  });

  test('foley serve', async () => {
    const { env, running } = await startServe([], { env: STRICT });
    const sandbox = await runStrictly(['tts', TEXT, '--voice-name', 'Clara', '-o', 'a.mp3'], env);
    await expectSoundIn(sandbox, 'a.mp3');
    running.signal('SIGTERM');
    expect(await running.done).toMatchObject({ signal: 'SIGTERM', stderr: '' });
  });
});
