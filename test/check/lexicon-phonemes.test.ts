import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startHostedService, VOICE } from '../binary/support/hosted-service.ts';

const TOMATO = 'tomato\t/təmˈɑːtoʊ/\n';
const TEXT = "A tomato's skin, or the tomato.";

async function lexiconSandbox(lexicon = TOMATO): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'names.tsv'), lexicon);
  return sandbox;
}

async function spokenSound(
  sandbox: Sandbox,
  args: readonly string[],
  name = 'a.wav',
): Promise<Buffer> {
  const result = await runFoley([...args, '-q', '-o', name], { sandbox });
  expect(result.code, result.stderr).toBe(0);
  return readFile(path.join(sandbox.out, name));
}

describe('phonemes of a lexicon', () => {
  test('are spoken by the built-in voice, and captions keep the written word', async () => {
    const sandbox = await lexiconSandbox();
    const plain = await spokenSound(sandbox, ['tts', TEXT]);
    const lexicon = ['--lexicon', 'names.tsv'];
    expect((await spokenSound(sandbox, ['tts', TEXT, ...lexicon])).equals(plain)).toBe(false);
    expect(
      (await spokenSound(sandbox, ['tts', 'Potato.', ...lexicon])).equals(
        await spokenSound(sandbox, ['tts', 'Potato.']),
      ),
    ).toBe(true);
    await spokenSound(sandbox, ['tts', TEXT, ...lexicon, '--timings', 'a.json']);
    const timings = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
    expect(timings).toMatchObject({ text: TEXT, complete: true });
    const words = timings.words.map(({ text }: { text: string }) => text);
    expect(words).toEqual(['A', "tomato's", 'skin', 'or', 'the', 'tomato']);
  });

  test('let a voice speak a word of another script', async () => {
    const sandbox = await lexiconSandbox('重庆\t/tʃʊŋ tʃɪŋ/\n');
    const result = await runFoley(
      ['tts', 'I like 重庆.', '--lexicon', 'names.tsv', '-o', 'a.wav', '--timings', 'a.json'],
      { sandbox },
    );
    expect(result.code, result.stderr).toBe(0);
    const { words } = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
    expect(words.at(-1)).toMatchObject({ text: '重庆' });
  });

  test.each([
    ['a job', ['--via', 'job']],
    ['word times', ['--via', 'aligned']],
    ['parts', ['--pauses']],
    ['v1', ['--api', 'v1']],
  ])('are sent with %s', async (_, args) => {
    const sandbox = await lexiconSandbox();
    const text = args.includes('--pauses') ? `${TEXT} [pause 1s] ${TEXT}` : TEXT;
    const plain = await spokenSound(sandbox, ['tts', text, ...args]);
    const other = await spokenSound(sandbox, ['tts', text, ...args, '--lexicon', 'names.tsv']);
    expect(other.equals(plain)).toBe(false);
  });

  test('are in the requests of a batch, a script and live speech', async () => {
    const sandbox = await lexiconSandbox();
    await writeFile(path.join(sandbox.out, 'a.txt'), 'A tomato.');
    await writeFile(path.join(sandbox.out, 'b.txt'), 'ANNA: A tomato.');
    const lexicon = ['--lexicon', 'names.tsv'];
    const batch = async (args: readonly string[], dir: string) => {
      const { code, stderr } = await runFoley(
        ['batch', 'a.txt', '--format', 'wav', '--output-dir', dir, ...args],
        { sandbox },
      );
      expect(code, stderr).toBe(0);
      return readFile(path.join(sandbox.out, dir, 'a.wav'));
    };
    expect((await batch(lexicon, 'o')).equals(await batch([], 'p'))).toBe(false);
    const script = ['script', 'b.txt', '-v', 'Clara'];
    const spoken = await spokenSound(sandbox, [...script, ...lexicon]);
    expect(spoken.equals(await spokenSound(sandbox, script, 'b.wav'))).toBe(false);
    const live = ['live', 'A tomato.', '--format', 'wav'];
    const heard = await spokenSound(sandbox, [...live, ...lexicon]);
    expect(heard.equals(await spokenSound(sandbox, live))).toBe(false);
    expect(
      (await spokenSound(sandbox, ['live', 'Hello.', '--format', 'wav', ...lexicon])).equals(
        await spokenSound(sandbox, ['live', 'Hello.', '--format', 'wav']),
      ),
    ).toBe(true);
  });

  test('are shown by foley text and by --dry-run', async () => {
    const sandbox = await lexiconSandbox();
    const shown = await runFoley(['text', TEXT, '--lexicon', 'names.tsv', '--json'], { sandbox });
    const pronunciations = [{ word: 'tomato', phonemes: 'təmˈɑːtoʊ' }];
    expect(parseJsonDocument(shown.stdout)).toMatchObject({ text: TEXT, pronunciations });
    const planned = await runFoley(['tts', TEXT, '--lexicon', 'names.tsv', '--dry-run'], {
      sandbox,
    });
    expect(parseJsonDocument(planned.stdout)).toMatchObject({ body: { pronunciations } });
  });

  test.each([
    ['tts', ['tts', TEXT]],
    ['jobs create', ['jobs', 'create', TEXT]],
    ['live', ['live', TEXT]],
    ['script', ['script', 'a.txt', '-o', 'a.wav']],
    ['batch', ['batch', 'a.txt', '--output-dir', 'o']],
  ])('are refused by %s before speech if the service does not announce them', async (_, args) => {
    const sandbox = await lexiconSandbox();
    await writeFile(path.join(sandbox.out, 'a.txt'), TEXT);
    const { env, server } = await startHostedService();
    const all = [...args, '-v', VOICE.voiceId, '--lexicon', 'names.tsv'];
    const { code, stderr } = await runFoley(all, { sandbox, env });
    expect(stderr).toContain('the lexicon entry "tomato" has the phonemes /təmˈɑːtoʊ/, but');
    expect(code).toBe(2);
    expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('are refused if the voice has no sound for a sign, or the command speaks none', async () => {
    const sandbox = await lexiconSandbox('tomato\t/tʘ/\n');
    const lexicon = ['--lexicon', 'names.tsv'];
    const refusal = async (args: readonly string[]) => {
      const { code, stderr } = await runFoley([...args, ...lexicon], { sandbox });
      expect(code, stderr).toBe(2);
      return stderr;
    };
    const entry = 'the lexicon entry "tomato" has the phonemes /tʘ/, but';
    expect(await refusal(['tts', TEXT, '-o', 'a.wav'])).toContain(
      `${entry} the voice Clara has no sound for "ʘ"`,
    );
    const compat = ['tts', TEXT, '--api', 'compat-tts', '-o', 'a.wav'];
    expect(await refusal(compat)).toContain(`${entry} --api compat-tts speaks no phonemes`);
    const dub = ['dub', 'create', TEXT, '--video', 'http://127.0.0.1/a.mp4', '-v', 'a'];
    expect(await refusal(dub)).toContain(`${entry} \`foley dub create\` speaks no phonemes`);
  });
});
