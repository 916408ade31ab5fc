import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { describe, expect, test } from 'vitest';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { canaryKey } from '../harness/canary.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { codeOf, firstVoiceId, startServe } from '../binary/support/serve.ts';
import { expectSound } from '../binary/support/sound.ts';
import { speechRecording } from '../binary/voices/recordings.ts';

const INPUT = 'Hello.';
const ALIASES = ['--alias', 'tts-1=vendor-s21pro-flash', '--alias', 'alloy=VOICE'];

/** `foley serve` with the alias `alloy` for the second voice, and that voice. */
async function startAliased(...flags: readonly string[]) {
  const sandbox = await createSandbox();
  const listed = await runFoley(['voices', 'list', '--local', '--json'], { sandbox });
  const voice = Object(JSON.parse(String(listed.stdout))).items[1];
  const aliases = ALIASES.map((flag) => flag.replace('VOICE', String(voice.voiceId)));
  const serving = await startServe([...aliases, ...flags], { sandbox });
  return { serving, voice, client: clientOf(serving) };
}

function clientOf({ apiKey, baseUrl }: ServingFoley): OpenAI {
  return new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, maxRetries: 0 });
}

describe('--alias', () => {
  test('lets the openai client use names of OpenAI, for the same audio and price', async () => {
    const { client, voice } = await startAliased();
    const named = await client.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: INPUT,
    });
    const real = await client.audio.speech.create({
      model: 'vendor-s21pro-flash',
      voice: { id: String(voice.voiceId) },
      input: INPUT,
    });
    const audio = Buffer.from(await named.arrayBuffer());
    await expectSound(audio);
    expect(audio.equals(Buffer.from(await real.arrayBuffer()))).toBe(true);
    expect(named.headers.get('X-OpenAPI-Credits-Used')).toBe('3');
  });

  test('is listed after the real ids of models and voices', async () => {
    const { client, serving, voice } = await startAliased();
    const models = (await client.models.list()).data.map(({ id }) => id);
    expect(models.at(-1)).toBe('tts-1');
    expect(models).toContain('vendor-s21pro-flash');
    expect(await client.models.retrieve('tts-1')).toMatchObject({ id: 'tts-1' });
    const { bytes } = await serving.ask('/v1/audio/voices');
    const { voices } = Object(JSON.parse(String(bytes)));
    expect(voices.at(-1)).toEqual({ id: 'alloy', name: voice.name });
    expect(voices[1]).toEqual({ id: voice.voiceId, name: voice.name });
  });

  test('of an unavailable model is not listed and gets 404', async () => {
    const { client } = await startAliased('--unavailable', 'vendor-s21pro-flash');
    const models = (await client.models.list()).data.map(({ id }) => id);
    expect(models).toContain('vendor-s21pro');
    expect(models).not.toContain('tts-1');
    await expect(client.models.retrieve('tts-1')).rejects.toBeInstanceOf(NotFoundError);
  });

  test('does not hold for other endpoints, other names, or the other kind of name', async () => {
    const { client, serving } = await startAliased();
    const voiceId = await firstVoiceId(serving);
    const body = { text: INPUT, voiceId: 'alloy' };
    const other = await serving.ask(SPEECH_PATH, { method: 'POST', body });
    expect(codeOf(other.bytes)).toBe('ERR_VOICE_NOT_FOUND');
    const modelId = { text: INPUT, voiceId, modelId: 'tts-1' };
    expect((await serving.ask(SPEECH_PATH, { method: 'POST', body: modelId })).status).toBe(400);
    for (const [model, voice] of [
      ['tts-1-hd', 'alloy'],
      ['tts-1', 'nova'],
      ['alloy', 'alloy'],
      ['tts-1', 'tts-1'],
    ] as const) {
      const asked = client.audio.speech.create({ model, voice, input: INPUT });
      await expect(asked, `${model} ${voice}`).rejects.toBeInstanceOf(BadRequestError);
    }
  });

  test('of a custom voice works for its account only', async () => {
    const sandbox = await createSandbox();
    const [alice, bob] = [canaryKey(), canaryKey()];
    await writeFile(path.join(sandbox.out, 'keys.txt'), `${alice} alice\n${bob} bob\n`);
    const flags = ['--accept-keys-file', 'keys.txt', '--data-dir', 'data'];
    const first = await startServe(flags, { sandbox });
    await writeFile(path.join(sandbox.out, 'me.wav'), speechRecording());
    const env = { ...first.env, FOLEY_API_KEY: alice };
    const cloned = await runFoley(['voices', 'clone', 'Me', 'me.wav'], { sandbox, env });
    const voiceId = String(cloned.stdout).trim();
    first.running.signal('SIGTERM');
    await first.running.done;
    const serving = await startServe([...flags, '--alias', `me=${voiceId}`], { sandbox });
    const speak = async (key: string) =>
      clientOf({ ...serving, apiKey: key }).audio.speech.create({
        model: 'vendor-s21pro',
        voice: 'me',
        input: INPUT,
      });
    expect((await speak(alice)).status).toBe(200);
    await expect(speak(bob)).rejects.toBeInstanceOf(BadRequestError);
    for (const [key, isListed] of [
      [alice, true],
      [bob, false],
    ] as const) {
      const headers = { Authorization: `Bearer ${key}` };
      const { bytes } = await serving.ask('/v1/audio/voices', { headers });
      const ids = Object(JSON.parse(String(bytes))).voices.map(({ id }: { id: string }) => id);
      expect(ids.includes('me')).toBe(isListed);
    }
  });

  test.each([
    [['tts-1'], /--alias is "tts-1"; it takes a name and the id of a model or voice/],
    [['=vendor-s1'], /--alias is "=vendor-s1"/],
    [['tts-1='], /--alias is "tts-1="/],
    [['my voice=vendor-s1'], /--alias is "my voice=vendor-s1"/],
    [['tts-1=vendor-s1', 'tts-1=vendor-s2pro'], /alias tts-1=vendor-s2pro .* has two aliases/],
    [['tts-1=vendor-s9'], /no speech model or voice has the id vendor-s9/],
    [['tts-1=vendor-s21pr'], /mean vendor-s21pro/],
    [['tts-1=nothing-like-it'], /foley models --local/],
    [['vendor-s1=vendor-s2pro'], /vendor-s1 is the id of a model or voice/],
  ])('that cannot be used is exit 2: %j', async (aliases, problem) => {
    const flags = aliases.flatMap((alias) => ['--alias', alias]);
    const result = await runFoley(['serve', '--port', '0', ...flags]);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(problem) });
  });
});
