import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXIT_CODES } from '../../src/contract/exit-codes.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';

describe('foley help COMMAND --schema', () => {
  test('prints the schema of the output and the errors', async () => {
    const result = await runFoley(['help', 'tts', '--schema']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout.toString())).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'foley tts --json',
      anyOf: [{ $ref: '#/$defs/Output' }, { $ref: '#/$defs/ErrorDocument' }],
      $defs: { SpeechDocument: { required: expect.arrayContaining(['output', 'creditsUsed']) } },
    });
  });

  test('prints the schema of the events', async () => {
    const schema = parseJsonDocument(
      (await runFoley(['help', 'batch', '--schema', '--json'])).stdout,
    );
    expect(schema).toMatchObject({ $defs: { Event: { $ref: '#/$defs/BatchEvent' } } });
  });

  test.each([
    ['voices', 'foley voices list --json'],
    ['voices clone', 'foley voices create --json'],
    ['help', 'foley help --json'],
  ])('finds the command that `foley %s` runs', async (name, title) => {
    const result = await runFoley(['help', ...name.split(' '), '--schema']);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({ title });
  });

  test.each([
    ['design', 'Its commands: design create, design preview, design save.'],
    ['voices lst', 'Did you mean `foley help voices list --schema`?'],
  ])('of `foley %s` names the next step', async (name, hint) => {
    const error = errorLine(await runFoley(['help', ...name.split(' '), '--schema', '--json']));
    expect(error).toMatchObject({ exitCode: 2, hint });
  });
});

describe('foley help skill', () => {
  test('prints the file of the package, with a name and a description', async () => {
    const skill = readFileSync(new URL('../../skills/foley/SKILL.md', import.meta.url), 'utf8');
    const result = await runFoley(['help', 'skill']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.toString()).toBe(skill);
    expect(skill.split('\n').length).toBeLessThanOrEqual(200);
    const [, matter = ''] = /^---\n(.*?)\n---\n/s.exec(skill) ?? [];
    const { description, name } = parse(matter);
    expect(name).toBe('foley');
    expect(description.length).toBeLessThanOrEqual(1_024);
  });

  test('shows exit codes that exist', async () => {
    const { text } = Object(
      parseJsonDocument((await runFoley(['help', 'skill', '--json'])).stdout),
    );
    const rows = String(text).matchAll(/^\| ([\d, ]+) \|/gm);
    const codes = [...rows].flatMap(([, list = '']) => list.split(', ').map(Number));
    expect(codes.length).toBeGreaterThan(8);
    expect(Object.values(EXIT_CODES).map(({ code }) => code)).toEqual(
      expect.arrayContaining(codes),
    );
  });
});

describe('foley help exit-codes', () => {
  test('prints every row of the table', async () => {
    const result = await runFoley(['help', 'exit-codes']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const rows = result.stdout.toString().trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split(/ {2,}/))).toStrictEqual(
      Object.values(EXIT_CODES).map(({ code, meaning }) => [`${code}`, meaning]),
    );
  });

  test('as a document', async () => {
    const result = await runFoley(['help', 'exit-codes', '--json']);
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      items: expect.arrayContaining([{ name: 'auth', code: 4, meaning: EXIT_CODES.auth.meaning }]),
      total: Object.keys(EXIT_CODES).length,
    });
  });

  test('needs no configuration that can be read', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.config, 'foley'));
    await writeFile(path.join(sandbox.config, 'foley', 'config.json'), '{');
    expect(await runFoley(['help', 'exit-codes'], { sandbox })).toMatchObject({ code: 0 });
  });

  test('is named in the help of a command', async () => {
    const result = await runFoley(['tts', '--help']);
    expect(result.stdout.toString()).toContain('foley help exit-codes');
  });

  test.each([
    ['exit-code', 'Did you mean `foley help exit-codes`?'],
    ['tss', 'Did you mean `foley tts`?'],
  ])('foley help %s says what was probably meant', async (topic, hint) => {
    const error = errorLine(await runFoley(['help', topic, '--json']));
    expect(error).toMatchObject({ exitCode: 2, hint: expect.stringContaining(hint) });
  });
});
