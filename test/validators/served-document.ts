import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { startServe } from '../binary/support/serve.ts';
import type { Sandbox } from '../harness/sandbox.ts';

/** Where the service gives its OpenAPI document. */
export const DOCUMENTS = ['/api/open/v3/openapi.json', '/api/openapi.json'] as const;

export interface ServedDocument {
  readonly sandbox: Sandbox;
  /** Name of the file in the sandbox's `out`. */
  readonly file: string;
  readonly document: unknown;
}

/** Puts the document that `foley serve` answers with into a file. */
export async function servedDocument(from: string): Promise<ServedDocument> {
  const { ask, running } = await startServe();
  const { status, bytes } = await ask(from);
  expect(status).toBe(200);
  const file = 'openapi.json';
  await writeFile(path.join(running.sandbox.out, file), bytes);
  return { sandbox: running.sandbox, file, document: JSON.parse(bytes.toString()) };
}
