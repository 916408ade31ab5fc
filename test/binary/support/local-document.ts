import { expect } from 'vitest';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';

/** The document of a command on the embedded service. */
export async function localDocument(...args: readonly string[]): Promise<unknown> {
  const result = await runFoley([...args, '--json', '--local']);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return parseJsonDocument(result.stdout);
}
