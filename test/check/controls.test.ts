import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { VOICES } from '../fault-server/healthy-service.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { speechBodyOf, startHostedService, VOICE } from '../binary/support/hosted-service.ts';

/** The body without anything that was not asked for. */
const PLAIN = { text: 'Hi', voiceId: VOICE.voiceId, format: 'mp3' };

async function bodyOf(args: readonly string[], options: RunOptions = {}): Promise<unknown> {
  const { server, env } = await startHostedService();
  const merged = { ...options, env: { ...env, ...options.env } };
  const result = await runFoley(['tts', 'Hi', '-o', 'out', ...args], merged);
  expect(result.code, result.stderr).toBe(0);
  return speechBodyOf(server);
}

async function refusal(args: readonly string[]): Promise<string> {
  const { server, env } = await startHostedService();
  const result = await runFoley(['tts', 'Hi', '-o', 'out', ...args], { env });
  expect(result.code, result.stderr).toBe(2);
  expect(server.connections).toBe(0);
  return result.stderr;
}

describe('what is given is sent, and nothing else', () => {
  test('without flags', async () => {
    expect(await bodyOf([])).toStrictEqual(PLAIN);
  });

  test.each<readonly [readonly string[], Readonly<Record<string, unknown>>]>([
    [['--speed', '1.25'], { speed: 1.25 }],
    [['--speed', '0.5'], { speed: 0.5 }],
    [['--speed', '2'], { speed: 2 }],
    [['--speed', '.75'], { speed: 0.75 }],
    [['--speed', '1.'], { speed: 1 }],
    [['--volume', '-3'], { volume: -3 }],
    [['--volume=-20'], { volume: -20 }],
    [['--volume', '20'], { volume: 20 }],
    [['--volume', '0'], { volume: 0 }],
    [['--pitch=-2'], { pitch: -2 }],
    [['--pitch', '-12'], { pitch: -12 }],
    [['--pitch', '12'], { pitch: 12 }],
    [['--stability', '0'], { stability: 0 }],
    [['--stability', '1.5'], { stability: 1.5 }],
    [['--similarity', '0.75'], { similarity: 0.75 }],
    [['--language', 'pt-BR'], { language: 'pt-BR' }],
    [['-l', 'de'], { language: 'de' }],
    [['--language', '👋'.repeat(64)], { language: '👋'.repeat(64) }],
    [['--emotion', 'calm'], { emotion: 'calm' }],
    [['--instruction', 'As a "pirate", \n slowly'], { instruction: 'As a "pirate", \n slowly' }],
    [['--instruction', 'x'.repeat(1_600)], { instruction: 'x'.repeat(1_600) }],
    [['--text-normalization'], { textNormalization: true }],
    [['--no-text-normalization'], { textNormalization: false }],
    [['--filter-emoji'], { filterEmoji: true }],
    [['-m', 'vendor-s21pro'], { modelId: 'vendor-s21pro' }],
    [['--model', 'vendor-s21pro'], { modelId: 'vendor-s21pro' }],
    [['--format', 'ogg'], { format: 'ogg' }],
    [['--output-format', 'WAV'], { format: 'wav' }],
  ])('%j', async (args, sent) => {
    expect(await bodyOf(args)).toStrictEqual({ ...PLAIN, ...sent });
  });

  test('all together', async () => {
    const [, tomas] = VOICES;
    const args =
      '-v VOICE -m altF-flash-v2.5 --speed 1.1 --volume -1.5 --pitch 3 --stability 0.4 ' +
      '--similarity 0.6 -l cs --emotion glad --instruction softly --no-text-normalization --filter-emoji';
    expect(await bodyOf(args.replace('VOICE', tomas.voiceId).split(' '))).toStrictEqual({
      text: 'Hi',
      voiceId: tomas.voiceId,
      format: 'mp3',
      modelId: 'altF-flash-v2.5',
      speed: 1.1,
      volume: -1.5,
      pitch: 3,
      stability: 0.4,
      similarity: 0.6,
      language: 'cs',
      emotion: 'glad',
      instruction: 'softly',
      textNormalization: false,
      filterEmoji: true,
    });
  });
});

describe('out of range is exit 2 that names the flag, the value and what is allowed', () => {
  test.each([
    ['--speed', '0.49', '0.5 to 2'],
    ['--speed', '2.01', '0.5 to 2'],
    ['--volume', '-20.5', '-20 to 20'],
    ['--volume', '21', '-20 to 20'],
    ['--pitch', '-13', '-12 to 12'],
    ['--pitch', '12.1', '-12 to 12'],
    ['--stability', '-0.1', '0 to 1.5'],
    ['--stability', '1.51', '0 to 1.5'],
    ['--similarity', '2', '0 to 1.5'],
    ['--speed', 'fast', '0.5 to 2'],
    ['--speed', 'NaN', '0.5 to 2'],
    ['--speed', 'Infinity', '0.5 to 2'],
    ['--speed', '', '0.5 to 2'],
    ['--speed', '0x1', '0.5 to 2'],
    ['--speed', '1,5', '0.5 to 2'],
  ])('%s=%s', async (flag, value, range) => {
    const stderr = await refusal([`${flag}=${value}`]);
    expect(stderr).toContain(flag);
    expect(stderr).toContain(`"${value}"`);
    expect(stderr).toContain(range);
  });

  test.each([
    ['--language', 64],
    ['--emotion', 64],
    ['--instruction', 1_600],
  ])('%s of more than %i characters', async (flag, most) => {
    const stderr = await refusal([flag, '👋'.repeat(most + 1)]);
    expect(stderr).toContain(`${flag} has ${most + 1} characters; at most ${most} are allowed`);
  });

  test.each(['--language', '--emotion', '--instruction', '--voice', '--model', '--voice-name'])(
    '%s of nothing',
    async (flag) => {
      expect(await refusal([flag, '  '])).toContain(`${flag} is empty`);
    },
  );
});

describe('what is configured is sent too, and a flag goes before it', () => {
  test('the environment names the voice and the model', async () => {
    const [, tomas] = VOICES;
    const env = { FOLEY_VOICE: tomas.voiceId, FOLEY_MODEL: 'altF-flash-v2.5' };
    const sent = { ...PLAIN, voiceId: tomas.voiceId, modelId: 'altF-flash-v2.5' };
    expect(await bodyOf([], { env })).toStrictEqual(sent);
  });

  test('flag, then environment, then the project file', async () => {
    const sandbox = await createSandbox();
    const project = { model: 'from-the-file', speed: 1.5, language: 'cs', format: 'wav' };
    await writeFile(path.join(sandbox.out, 'foley.config.json'), JSON.stringify(project));
    const env = { FOLEY_MODEL: 'vendor-s21pro' };
    expect(await bodyOf(['--speed', '0.75'], { sandbox, env })).toStrictEqual({
      ...PLAIN,
      modelId: 'vendor-s21pro',
      format: 'wav',
      speed: 0.75,
      language: 'cs',
    });
  });

  test('the ending of the output goes before a configured format', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'foley.config.json'), '{"format":"wav"}');
    const { server, env } = await startHostedService();
    const result = await runFoley(['tts', 'Hi', '-o', 'hi.ogg'], { sandbox, env });
    expect(result.code, result.stderr).toBe(0);
    expect(speechBodyOf(server)).toMatchObject({ format: 'ogg' });
  });

  test('a project file that names a service is refused', async () => {
    const sandbox = await createSandbox();
    const { server, env } = await startHostedService();
    await writeFile(
      path.join(sandbox.out, 'foley.config.json'),
      '{"baseUrl":"http://127.0.0.1:1"}',
    );
    const result = await runFoley(['tts', 'Hi'], { sandbox, env });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/foley\.config\.json[\s\S]*baseUrl/);
    expect(server.connections).toBe(0);
  });
});
