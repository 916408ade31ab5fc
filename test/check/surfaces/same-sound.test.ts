import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartedService } from '../../contract/start-service.ts';
import { startService } from '../../contract/start-service.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';

let service: StartedService;
beforeAll(async () => {
  service = await startService([]);
});
afterAll(() => service.stop());

/** The engine says the same text in the same way to the sample, so that files can be compared. */
const CHANGES: readonly (readonly [string, string])[] = [
  ['Clara', '--speed 1.5'],
  ['Clara', '--volume=-6'],
  ['Nora', '--pitch 4'],
  ['Nora', '--emotion sad'],
  ['Iris', '--instruction slowly -m altB-audio-3.0-tts-plus'],
];
/** Accepted without any effect on the sound (docs/service.md). */
const INAUDIBLE: readonly (readonly [string, string])[] = [
  ['Clara', '--stability 0.8'],
  ['Clara', '--similarity 1.2'],
  ['Clara', '--language en'],
  ['Clara', '--text-normalization'],
];
const COMPAT: readonly (readonly [string, string])[] = [
  ['compat-tts', '--speed 1.5'],
  ['compat-tts', '--stability 0.8'],
  ['compat-tts', '--similarity 1.2'],
  ['compat-tts', '--text-normalization'],
  ['compat-speech', '--speed 1.5 -m vendor-s21pro-flash'],
];

async function speak(
  sandbox: Sandbox,
  surface: string,
  voice: string,
  flags: string,
): Promise<Buffer> {
  const name = 'x.wav';
  const args = ['tts', 'One two three.', '--voice-name', voice, '-o', name];
  const more = flags === '' ? [] : flags.split(' ');
  const env = { FOLEY_BASE_URL: service.baseUrl, FOLEY_API_KEY: service.key };
  const result = await runFoley([...args, '--api', surface, ...more], { sandbox, env });
  expect(result.code, result.stderr).toBe(0);
  return readFile(path.join(sandbox.out, name));
}

describe.each(CHANGES)('of %s, %s', (voice, flags) => {
  test('changes the sound on v1 and v2 as it does on v3', async () => {
    const sandbox = await createSandbox();
    const model = / -m \S+/.exec(flags)?.[0].trim() ?? '';
    const plain = await speak(sandbox, 'v3', voice, model);
    const changed = await speak(sandbox, 'v3', voice, flags);
    expect(changed.equals(plain)).toBe(false);
    for (const surface of ['v2', 'v1']) {
      const heard = await speak(sandbox, surface, voice, flags);
      expect(heard.equals(changed), surface).toBe(true);
    }
  });
});

describe.each(INAUDIBLE)('of %s, %s', (voice, flags) => {
  test('is taken by v1 and v2 and leaves the sound as it is', async () => {
    const sandbox = await createSandbox();
    const plain = await speak(sandbox, 'v3', voice, '');
    for (const surface of ['v2', 'v1']) {
      expect((await speak(sandbox, surface, voice, flags)).equals(plain), surface).toBe(true);
    }
  });
});

test.each(COMPAT)('%s with %s sounds as v3 with it', async (surface, flags) => {
  const sandbox = await createSandbox();
  const own = await speak(sandbox, 'v3', 'Clara', flags);
  expect((await speak(sandbox, surface, 'Clara', flags)).equals(own)).toBe(true);
});
