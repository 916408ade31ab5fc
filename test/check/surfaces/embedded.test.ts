import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartedService } from '../../contract/start-service.ts';
import { startService } from '../../contract/start-service.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { expectSound } from '../../binary/support/sound.ts';

const TEXT = 'Hello from foley, on every surface.';
const RATE = 24_000;
const SURFACES = [
  ['v3', ['mp3', 'wav', 'ogg']],
  ['v2', ['mp3', 'wav', 'ogg']],
  ['v1', ['mp3', 'wav', 'ogg']],
  ['compat-tts', ['mp3', 'wav', 'pcm']],
  ['compat-speech', ['mp3', 'wav', 'pcm']],
] as const;

let served: StartedService;
beforeAll(async () => {
  served = await startService([]);
});
afterAll(() => served.stop());

function words(surface: string, ...more: readonly string[]): readonly string[] {
  const model = surface === 'compat-speech' ? ['-m', 'vendor-s21pro-flash'] : [];
  return ['tts', TEXT, '--api', surface, ...model, ...more];
}

/** Asks the service where it has a process of its own, as Clara unless a flag says otherwise. */
async function ask(surface: string, ...flags: readonly string[]): Promise<RunResult> {
  const env = { FOLEY_BASE_URL: served.baseUrl, FOLEY_API_KEY: served.key };
  const voice = flags.includes('-v') ? [] : ['--voice-name', 'Clara'];
  return runFoley([...words(surface, ...voice), ...flags], { env });
}

/** Speaks for real; gives the playing time in ms. */
async function durationOf(surface: string, ...flags: readonly string[]): Promise<number> {
  const result = await ask(surface, '-o', 'x.wav', ...flags);
  expect(result.code, result.stderr).toBe(0);
  return (await expectSound(await readFile(path.join(result.sandbox.out, 'x.wav')))).durationMs;
}

describe.each(SURFACES)('the embedded service, asked by foley tts --api %s', (surface, formats) => {
  test('speaks in each format, by the name of the file', async () => {
    const sandbox = await createSandbox();
    for (const format of formats) {
      const name = `hello.${format}`;
      const result = await runFoley(words(surface, '--local', '-o', name, '--json'), { sandbox });
      expect(result.code, result.stderr).toBe(0);
      expect(parseJsonDocument(result.stdout)).toMatchObject({
        output: name,
        format,
        creditsUsed: Math.ceil(TEXT.length / 2),
        ignoredParameters: surface === 'v3' ? [] : null,
        target: 'embedded',
      });
      const bytes = await readFile(path.join(sandbox.out, name));
      if (format === 'pcm') expect(loudestOf(bytes)).toBeGreaterThan(1_000);
      else expect((await expectSound(bytes)).format).toBe(format);
    }
  });

  test('follows --speed', async () => {
    const own = await durationOf(surface);
    const fast = await durationOf(surface, '--speed', '2');
    expect(own / fast).toBeGreaterThan(1.7);
    expect(own / fast).toBeLessThan(2.2);
  });

  test('reports an unknown voice as the hosted service does', async () => {
    const result = await ask(surface, '-v', 'nobody', '-o', 'x.wav');
    expect(result.code).toBe(20);
    expect(result.stderr).toContain('nobody');
    expect(result.stderr).toContain(surface.startsWith('compat') ? '(400)' : '(404)');
  });
});

describe('raw samples', () => {
  test('are as long as the wav, and their rate is reported', async () => {
    const wav = await durationOf('compat-tts');
    const result = await ask('compat-tts', '--format', 'pcm', '-o', '-');
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.length / 2 / RATE).toBeCloseTo(wav / 1_000, 2);
    expect(result.stderr).toContain('24 kHz, mono');
  });

  test('cannot be played by a program that has to know them', async () => {
    const result = await runFoley(words('compat-tts', '--local', '--format', 'pcm', '--play'));
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('pcm');
  });
});

test.each([
  ['Clara', 'vendor-s21pro-flash allows 0.5 to 1.5', '0.49'],
  ['Rose', 'altF-flash-v2.5 allows 0 to 1', '1.01'],
])(
  '--stability and --similarity are reported as not applied to %s, and checked',
  async (...row) => {
    const [voice, allowed, outside] = row;
    const flags = ['--stability', '0.8', '--similarity', '0.9', '-o', 'x.mp3'];
    const result = await runFoley(['tts', 'Hi.', '--local', '-v', voice, ...flags]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toContain('not applied by this model: stability, similarity');
    for (const flag of ['--stability', '--similarity']) {
      const refused = await runFoley(['tts', 'Hi.', '--local', '-v', voice, flag, outside]);
      expect(refused.code).toBe(20);
      expect(refused.stderr).toContain(`${flag.slice(2)} is ${outside}; ${allowed}`);
    }
  },
);

test('stability, similarity and normalization reach /v1/tts for real', async () => {
  const flags = ['--stability', '0.8', '--similarity', '1.2', '--text-normalization'];
  const result = await ask('compat-tts', ...flags, '-o', 'x.mp3');
  expect(result.code, result.stderr).toBe(0);
  const refused = await ask('compat-tts', '--stability', '0.2', '-o', 'x.mp3');
  expect(refused.code).toBe(20);
  expect(refused.stderr).toContain('temperature is 0.2');
});

test('every control of v2 and v1 reaches the service for real', async () => {
  const flags = ['--speed', '1.1', '--volume', '2', '--pitch', '1', '--stability', '0.9'];
  const more = ['--similarity', '0.9', '-l', 'en', '--emotion', 'happy', '--instruction', 'softly'];
  for (const surface of ['v2', 'v1']) {
    const all = [...flags, ...more, '--no-text-normalization', '--filter-emoji', '-o', 'x.mp3'];
    const result = await ask(surface, ...all);
    expect(result.code, result.stderr).toBe(0);
  }
});

test('kaomoji are left out and cost nothing on v2 and v1', async () => {
  for (const surface of ['v3', 'v2', 'v1']) {
    const args = ['tts', 'Hi (◕‿◕) you', '--local', '--api', surface, '-m', 'vendor-s21pro'];
    const result = await runFoley([...args, '--filter-emoji', '-o', 'x.mp3', '--json']);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ creditsUsed: 6 });
  }
});

function loudestOf(pcm: Buffer): number {
  expect(pcm.length % 2).toBe(0);
  return Math.max(
    ...Array.from({ length: Math.min(pcm.length / 2, 50_000) }, (_, at) => pcm.readInt16LE(at * 2)),
  );
}
