import { describe, expect, test } from 'vitest';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { VOICE } from '../../binary/support/fixture.ts';
import { MODEL, SURFACES, surfaceFixture } from './surface-fixture.ts';
import type { SurfaceName } from './surface-fixture.ts';

type Body = Readonly<Record<string, unknown>>;

/** What each surface is sent when nothing but the voice is given; a model where it needs one. */
const PLAIN: Readonly<Record<SurfaceName, Body>> = {
  v3: { text: 'Hi', voiceId: VOICE, format: 'mp3' },
  v2: { text: 'Hi', voiceId: VOICE, format: 'mp3' },
  v1: { text: 'Hi', voiceId: VOICE, format: 'mp3' },
  'compat-tts': { text: 'Hi', reference_id: VOICE, format: 'mp3' },
  'compat-speech': { input: 'Hi', voice: VOICE, model: MODEL, response_format: 'mp3' },
};

/** Flags and what they become on a surface that calls them by their own names. */
const OWN: readonly (readonly [string, Body])[] = [
  ['--speed 1.5', { speed: 1.5 }],
  ['--volume=-3', { volume: -3 }],
  ['--pitch 2', { pitch: 2 }],
  ['--stability 0.7', { stability: 0.7 }],
  ['--similarity 0.8', { similarity: 0.8 }],
  ['--language de', { language: 'de' }],
  ['--emotion calm', { emotion: 'calm' }],
  ['--instruction softly', { instruction: 'softly' }],
  ['--text-normalization', { textNormalization: true }],
  ['--no-text-normalization', { textNormalization: false }],
  ['--filter-emoji', { filterEmoji: true }],
  [`--model ${MODEL}`, { modelId: MODEL }],
  ['--format wav', { format: 'wav' }],
  ['--format ogg', { format: 'ogg' }],
];

const SENT: Readonly<Record<SurfaceName, readonly (readonly [string, Body])[]>> = {
  v3: OWN,
  v2: OWN,
  v1: OWN,
  'compat-tts': [
    ['--speed 1.5', { prosody: { speed: 1.5 } }],
    ['--stability 0.7', { temperature: 0.7 }],
    ['--similarity 0.8', { top_p: 0.8 }],
    ['--text-normalization', { normalize: true }],
    ['--no-text-normalization', { normalize: false }],
    ['--format wav', { format: 'wav' }],
    ['--format pcm', { format: 'pcm' }],
    [`--model ${MODEL}`, {}],
  ],
  'compat-speech': [
    ['--speed 1.5', { speed: 1.5 }],
    ['--format wav', { response_format: 'wav' }],
    ['--format pcm', { response_format: 'pcm' }],
    ['--model vendor-s1', { model: 'vendor-s1' }],
  ],
};

/** Controls that a surface does not have. */
const REFUSED: Readonly<Partial<Record<SurfaceName, readonly string[]>>> = {
  'compat-tts': [
    '--volume 1',
    '--pitch 1',
    '--language de',
    '--emotion calm',
    '--instruction softly',
    '--filter-emoji',
  ],
  'compat-speech': [
    '--volume 1',
    '--pitch 1',
    '--stability 0.7',
    '--similarity 0.8',
    '--language de',
    '--emotion calm',
    '--instruction softly',
    '--text-normalization',
    '--no-text-normalization',
    '--filter-emoji',
  ],
};

/** The words of a command on a surface. */
function words(surface: SurfaceName, flags: string): readonly string[] {
  const model = surface === 'compat-speech' && !flags.includes('--model') ? ['-m', MODEL] : [];
  const given = flags === '' ? [] : flags.split(' ');
  return ['tts', 'Hi', '-o', 'out', '--api', surface, ...model, ...given];
}

const ALL = Object.keys(SURFACES).filter((name): name is SurfaceName => name in SURFACES);

describe.each(ALL)('foley tts --api %s', (surface) => {
  test('sends the voice, the text, and nothing that was not given', async () => {
    const { run, bodyOf, server } = await surfaceFixture();
    const result = await run(words(surface, ''));
    expect(result.code, result.stderr).toBe(0);
    expect(bodyOf(surface)).toStrictEqual(PLAIN[surface]);
    expect(server.requests).toHaveLength(1);
  });

  test.each(SENT[surface])('with %s sends %j', async (flags, sent) => {
    const { run, bodyOf } = await surfaceFixture();
    const result = await run(words(surface, flags));
    expect(result.code, result.stderr).toBe(0);
    expect(bodyOf(surface)).toStrictEqual({ ...PLAIN[surface], ...sent });
  });

  test('--dry-run prints exactly what would be sent', async () => {
    const { run, bodyOf, requests, server } = await surfaceFixture();
    const flags = `--speed 1.5 --request-id r-1${surface === 'compat-tts' ? ` -m ${MODEL}` : ''}`;
    const keyed = surface.startsWith('compat') ? flags : `${flags} --idempotency-key r-1`;
    const told = await run([...words(surface, keyed), '--dry-run']);
    expect(told.code, told.stderr).toBe(0);
    expect(server.connections).toBe(0);
    const sent = await run(words(surface, keyed));
    expect(sent.code, sent.stderr).toBe(0);
    const [request] = requests(surface);
    const added = new Set(['host', 'connection', 'content-length', 'authorization']);
    const headers = (request?.headers ?? [])
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !added.has(name));
    expect(parseJsonDocument(told.stdout)).toStrictEqual({
      method: 'POST',
      url: `${server.origin}${SURFACES[surface].path}`,
      headers: { ...Object.fromEntries(headers), authorization: 'Bearer [redacted]' },
      body: bodyOf(surface),
    });
  });
});

describe.each(['compat-tts', 'compat-speech'] as const)('foley tts --api %s', (surface) => {
  test.each(REFUSED[surface] ?? [])('does not have %s: exit 2', async (flags) => {
    const { run, server } = await surfaceFixture();
    const result = await run(words(surface, flags));
    expect(result.code).toBe(2);
    const [flag = ''] = flags.split(' ');
    expect(result.stderr).toContain(`${flag} does not work with --api ${surface}`);
    expect(server.connections).toBe(0);
  });

  test('does not have aac: exit 2, whether asked for or named', async () => {
    const { run, server } = await surfaceFixture();
    const asked = await run(words(surface, '--format aac'));
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain('--format is "aac"; it takes mp3, wav, ogg, opus');
    const named = await run(words(surface, '').map((word) => (word === 'out' ? 'x.aac' : word)));
    expect(named.code).toBe(2);
    expect(named.stderr).toContain('--output has the extension of aac');
    expect(server.connections).toBe(0);
  });

  test('leaves out what is configured and cannot be sent, and says so', async () => {
    const { run, bodyOf, sandbox } = await surfaceFixture();
    const { writeFile } = await import('node:fs/promises');
    await writeFile(`${sandbox.out}/foley.config.json`, '{"language":"de","volume":3,"speed":1.5}');
    const result = await run(words(surface, ''));
    expect(result.code, result.stderr).toBe(0);
    expect(bodyOf(surface)).toMatchObject(
      surface === 'compat-tts' ? { prosody: { speed: 1.5 } } : { speed: 1.5 },
    );
    expect(Object.keys(Object(bodyOf(surface)))).not.toContain('language');
    for (const name of ['language', 'volume']) {
      expect(result.stderr).toMatch(new RegExp(`${name} of .*foley.config.json is not sent`));
    }
  });
});

describe('the model', () => {
  test('goes into the header of compat-tts', async () => {
    const { run, requests } = await surfaceFixture();
    await run(words('compat-tts', `--model ${MODEL}`));
    expect(requests('compat-tts')[0]?.header('model')).toBe(MODEL);
    await run(words('compat-tts', ''));
    expect(requests('compat-tts')[1]?.header('model')).toBeUndefined();
  });

  test('is needed by compat-speech, and may be configured', async () => {
    const { run, bodyOf, server } = await surfaceFixture();
    const args = ['tts', 'Hi', '-o', 'out', '--api', 'compat-speech'];
    const without = await run(args);
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('--api compat-speech requires a model id');
    expect(server.connections).toBe(0);
    const configured = await run(args, { env: { FOLEY_MODEL: 'vendor-s2pro' } });
    expect(configured.code, configured.stderr).toBe(0);
    expect(bodyOf('compat-speech')).toMatchObject({ model: 'vendor-s2pro' });
  });
});

test.each(['v3', 'v2', 'v1'])('pcm is not for %s: exit 2', async (surface) => {
  const { run, server } = await surfaceFixture();
  const result = await run(['tts', 'Hi', '--api', surface, '--format', 'pcm']);
  expect(result.code).toBe(2);
  expect(result.stderr).toMatch(/pcm.*it takes mp3, wav, ogg/);
  expect(server.connections).toBe(0);
});

test('an unknown surface is exit 2 with the nearest', async () => {
  const { run } = await surfaceFixture();
  const result = await run(['tts', 'Hi', '--api', 'compat-speach']);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('it takes v3, v2, v1, compat-tts, compat-speech');
  expect(result.stderr).toContain('Did you mean compat-speech?');
});
