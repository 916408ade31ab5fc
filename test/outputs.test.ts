import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { tree } from '../commands/tree.ts';
import { isBranch } from '../src/cli/command.ts';
import { commandSchema } from '../src/cli/output-schema.ts';
import type { OutputSchemas } from '../src/cli/output-schema.ts';
import { checkOutput } from './harness/check-output.ts';

const SCHEMAS: OutputSchemas = JSON.parse(
  readFileSync(new URL('../dist/schemas.json', import.meta.url), 'utf8'),
);
const NAMES = tree.flatMap((node) => {
  if (!isBranch(node)) return [node.name];
  const verbs = node.children.map(({ name }) => `${node.name} ${name}`);
  return node.itself === undefined && node.name !== 'help' ? verbs : [node.name, ...verbs];
});

test('every command says what it prints with --json', () => {
  expect(Object.keys(SCHEMAS.commands).toSorted()).toEqual(NAMES.toSorted());
});

test.each(NAMES)('the schema of %s is valid', (name) => {
  const schema = commandSchema(SCHEMAS, name);
  const ajv = new Ajv2020({ allowUnionTypes: true });
  expect(() => ajv.compile(schema ?? {})).not.toThrow();
  expect(schema).toMatchObject({ title: `foley ${name} --json`, anyOf: expect.any(Array) });
});

test('every test of a command fails if the command prints something else than its schema says', () => {
  const document = { name: 'voice', removed: true, file: 'config.json' };
  expect(printed(document)).not.toThrow();
  expect(printed({ ...document, removed: 'yes' })).toThrow('/removed must be boolean');
  expect(printed({ ...document, more: 1 })).toThrow('must NOT have additional properties');
  expect(printed(document, '{"error":{"code":"usage"}}\n')).toThrow("property 'message'");
  const event = { stdout: Buffer.from('{"event":"plan"}\n'), stderr: '' };
  expect(() => checkOutput(['batch', 'a.txt', '--json'], event)).toThrow('must have required');
});

function printed(stdout: object, stderr = ''): () => void {
  const output = { stdout: Buffer.from(`${JSON.stringify(stdout)}\n`), stderr };
  return () => checkOutput(['config', 'unset', 'voice', '--json'], output);
}
