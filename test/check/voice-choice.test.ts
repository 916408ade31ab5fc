import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { audio } from '../fault-server/catalogue.ts';
import { SPEECH_PATH, VOICES } from '../fault-server/healthy-service.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import {
  speechBodyOf,
  startHostedService,
  voicesAnswer,
} from '../binary/support/hosted-service.ts';
import { localDocument } from '../binary/support/local-document.ts';

const FAULTY = fileURLToPath(
  new URL('../service/engine/process/engines/faulty.mjs', import.meta.url),
);

describe('--voice-name', () => {
  test('is exact, whatever its case, and finds personal voices too', async () => {
    const { server, env } = await startHostedService();
    const args = ['tts', 'Hi', '--voice-name', 'tOMAS', '-m', 'altF-flash-v2.5', '-o', 'hi.mp3'];
    const result = await runFoley(args, { env });
    expect(result.code, result.stderr).toBe(0);
    expect(speechBodyOf(server)).toMatchObject({ voiceId: VOICES[1].voiceId });
  });

  test('works on the embedded service', async () => {
    const result = await runFoley(['tts', 'Hi', '--voice-name', 'martin', '--json', '--local']);
    const list = await localDocument('voices', 'list');
    const martin = Object(list).items.find((voice: { name: string }) => voice.name === 'Martin');
    expect(parseJsonDocument(result.stdout)).toHaveProperty('voiceId', martin.voiceId);
  });

  test('that two voices have is exit 2 with both ids', async () => {
    const [first, second] = VOICES;
    const { server, env } = await startHostedService([
      voicesAnswer([first, { ...second, name: 'nadia' }]),
    ]);
    const result = await runFoley(['tts', 'Hi', '--voice-name', 'Nadia'], { env });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(first.voiceId);
    expect(result.stderr).toContain(second.voiceId);
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test.each([
    ['Nadja', /Did you mean Nadia\?/],
    ['Nad', /Nadia/],
    ['Zzyzx', /Nadia, Tomas/],
  ])('%s, which no voice has, is exit 2 with candidates', async (name, candidates) => {
    const { server, env } = await startHostedService();
    const result = await runFoley(['tts', 'Hi', '--voice-name', name], { env });
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(candidates);
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('and --voice together are exit 2', async () => {
    const result = await runFoley(['tts', 'Hi', '--voice-name', 'Nadia', '--voice', 'x']);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/--voice-name.*--voice/);
  });
});

describe('--voice', () => {
  test.each([
    [['-v', 'martin'], {}],
    [[], { FOLEY_VOICE: 'Martin' }],
  ])('takes an exact name on the embedded service: %j %j', async (flags, env) => {
    const args = ['tts', 'Hi', ...flags, '--json', '--local'];
    const result = await runFoley(args, { env });
    expect(result.code, result.stderr).toBe(0);
    const list = await localDocument('voices', 'list');
    const martin = Object(list).items.find((voice: { name: string }) => voice.name === 'Martin');
    expect(parseJsonDocument(result.stdout)).toHaveProperty('voiceId', martin.voiceId);
  });

  test('that is neither an id nor a name of the embedded service is exit 20', async () => {
    const result = await runFoley(['tts', 'Hi', '-v', 'Martine', '--local']);
    expect(result).toMatchObject({ code: 20, stderr: expect.stringMatching(/Martin/) });
  });

  test('is sent to a hosted service as it is', async () => {
    const { server, env } = await startHostedService();
    await runFoley(['tts', 'Hi', '-v', VOICES[0].name, '-o', 'hi.mp3'], { env });
    expect(speechBodyOf(server)).toMatchObject({ voiceId: VOICES[0].name });
    expect(server.requests[0]?.method).toBe('POST');
  });
});

describe('without a voice', () => {
  test('a hosted service is not guessed at: exit 2', async () => {
    const { server, env } = await startHostedService();
    const result = await runFoley(['tts', 'Hi'], { env: { ...env, FOLEY_VOICE: '' } });
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toMatch(/--voice/);
    expect(server.connections).toBe(0);
  });

  test('the embedded service speaks with its first one', async () => {
    const list = await localDocument('voices', 'list');
    const document = await localDocument('tts', 'Hi', '-q');
    expect(document).toHaveProperty('voiceId', Object(list).items[0].voiceId);
  });
});

describe('a text in another language', () => {
  test('is spoken by a voice of --language if no voice is selected', async () => {
    const sandbox = await createSandbox();
    const args = ['engine', 'add', 'tested', '--', 'node', FAULTY];
    const added = await runFoley(args, { sandbox });
    expect(added.code, added.stderr).toBe(0);
    const german = await runFoley(['tts', 'Hallo Welt.', '-l', 'de', '--json', '-o', 'a.wav'], {
      sandbox,
    });
    const list = await runFoley(['voices', 'list', '--language', 'de', '--json'], { sandbox });
    const [voice] = Object(parseJsonDocument(list.stdout)).items;
    expect(parseJsonDocument(german.stdout)).toMatchObject({ voiceId: voice.voiceId });
    expect(german.stderr).not.toContain('default voice');
    await writeFile(path.join(sandbox.out, 'list.txt'), 'Hallo Welt.\n');
    const batch = ['batch', '--lines', 'list.txt', '-l', 'de', '--output-dir', 'out', '--dry-run'];
    const planned = await runFoley([...batch, '--json'], { sandbox });
    expect(planned.stdout.toString()).toContain(voice.voiceId);
  });

  test('that no voice can speak ends with exit 20 and a hint to voices of its language', async () => {
    for (const flags of [[], ['--via', 'job', '-o', 'a.mp3']]) {
      const result = await runFoley(['tts', '你好，今天天气很好。', '--local', ...flags]);
      expect(result.code).toBe(20);
      expect(result.stderr).toContain('`foley voices list --language CODE`');
      expect(result.stderr).not.toContain('Change the request');
    }
  });

  test('that the default voice reads as English gets a notice', async () => {
    const text = 'Le chat dort sur la table.';
    const result = await runFoley(['tts', text, '--local', '-o', 'a.wav']);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('`foley voices list --language fr`');
  });
});

test('--voice is sent as it is', async () => {
  const { mp3 } = await tinyAudio();
  const { server, env } = await startHostedService([
    { method: 'POST', path: SPEECH_PATH, answer: audio(mp3) },
  ]);
  await runFoley(['tts', 'Hi', '--voice', 'Some Odd/Id', '-o', 'hi.mp3'], { env });
  expect(speechBodyOf(server)).toMatchObject({ voiceId: 'Some Odd/Id' });
});
