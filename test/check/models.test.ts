import { describe, expect, test } from 'vitest';
import { MODELS } from '../fault-server/healthy-service.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startHostedService } from '../binary/support/hosted-service.ts';

describe('models', () => {
  test.each([[['models']], [['models', 'list']]])('%j is a table of all', async (args) => {
    const result = await runFoley([...args, '--local']);
    expect(result).toMatchObject({
      code: 0,
      stderr: 'The price of a model is unknown until its first charge.\n',
    });
    const [title = '', ...rows] = result.stdout.toString().trimEnd().split('\n');
    expect(title).toMatch(/^ID +LONGEST TEXT +FORMATS +CONTROLS$/);
    expect(rows).toHaveLength(19);
    expect(rows).toContainEqual(expect.stringMatching(/^vendor-s21pro-free +1000 +mp3, wav, ogg /));
    expect(rows).toContainEqual(expect.stringMatching(/^vendor-s21pro .* speed, volume$/));
    expect(rows).toContainEqual(expect.stringMatching(/^altF-flash-v2\.5 .* speed$/));
  });

  test('show the price of a model from earlier charges, and no other price', async () => {
    const sandbox = await createSandbox();
    const local = ['--local'];
    const text = 'A sentence of exactly fifty characters, all billed.';
    await runFoley(['tts', text, '-m', 'vendor-s21pro-flash', '-o', 'a.wav', ...local], {
      sandbox,
    });
    const { stdout } = await runFoley(['models', ...local], { sandbox });
    const [title, ...rows] = stdout.toString().trimEnd().split('\n');
    expect(title).toMatch(/^ID +LONGEST TEXT +FORMATS +CREDITS\/1000 +CONTROLS$/);
    expect(rows.filter((row) => row.includes(' about '))).toEqual([
      expect.stringMatching(/^vendor-s21pro-flash .* about 5\d\d /),
    ]);
    const json = await runFoley(['models', '--json', ...local], { sandbox });
    expect(json.stderr).toBe('');
    const document = parseJsonDocument(json.stdout);
    expect(document).toMatchObject({ contractVersion: 'v3', creditsPerCharacter: null });
    const price = expect.closeTo(0.53, 1);
    expect(document).toHaveProperty('models[0].creditsPerCharacter', null);
    expect(document).toHaveProperty('models[1].creditsPerCharacter', price);
    const record = ['models', 'get', 'vendor-s21pro-flash', '--json', ...local];
    expect(parseJsonDocument((await runFoley(record, { sandbox })).stdout)).toMatchObject({
      id: 'vendor-s21pro-flash',
      creditsPerCharacter: price,
    });
    const shown = await runFoley(['models', 'get', 'vendor-s21pro-flash', ...local], { sandbox });
    expect(shown.stdout.toString()).toMatch(/^price +about 5\d\d credits for 1000 characters/m);
    const other = await runFoley(['models', 'get', 'vendor-s21pro', ...local], { sandbox });
    expect(other.stdout.toString()).toMatch(/^price +unknown until/m);
  });

  test('show what speech without --model has cost', async () => {
    const sandbox = await createSandbox();
    const text = 'A sentence of exactly fifty characters, all billed.';
    await runFoley(['tts', text, '-o', 'a.wav', '--local'], { sandbox });
    const json = await runFoley(['models', '--json', '--local'], { sandbox });
    expect(parseJsonDocument(json.stdout)).toMatchObject({
      creditsPerCharacter: expect.closeTo(0.53, 1),
    });
    const list = await runFoley(['models', '--local'], { sandbox });
    expect(list.stderr).toMatch(/^Without --model, 1000 characters cost about 5\d\d credits /m);
    const one = await runFoley(['models', 'get', 'vendor-s1', '--local'], { sandbox });
    expect(one.stdout.toString()).toMatch(
      /^price +unknown until the first charge with --model; without it, about 5\d\d credits for/m,
    );
  });

  test('with --json are the capabilities as the service said them', async () => {
    const { env } = await startHostedService();
    const result = await runFoley(['models', '--json'], { env });
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      contractVersion: '3.0',
      models: MODELS,
    });
  });
});

describe('models get', () => {
  test('shows one model', async () => {
    const result = await runFoley(['models', 'get', 'altA-2.6-hd', '--local']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.toString()).toMatch(/^id +altA-2\.6-hd$/m);
    expect(result.stdout.toString()).toMatch(/5000 characters/);
    expect(result.stdout.toString()).toMatch(/mp3, wav$/m);
  });

  test('with --json is its record, field by field, with the price', async () => {
    const { env } = await startHostedService();
    const result = await runFoley(['models', 'get', MODELS[1].id, '--json'], { env });
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      creditsPerCharacter: null,
      ...MODELS[1],
    });
  });

  test('an unknown model is exit 20 with what it could be, as a voice is', async () => {
    const result = await runFoley(['models', 'get', 'vendor-s21por', '--local']);
    expect(result.code).toBe(20);
    expect(result.stderr).toMatch(/no model "vendor-s21por"[\s\S]*Did you mean vendor-s21pro/);
  });
});
