import { expect, test } from 'vitest';
import { canaryKey } from '../harness/canary.ts';
import { runFoley } from '../harness/run-foley.ts';
import { DOCUMENTS, servedDocument } from './served-document.ts';
import { startTool } from './tools.ts';

/** A mock that knows nothing but the document, on a free loopback port. */
async function startMock(flags: readonly string[] = []): Promise<Record<string, string>> {
  const { sandbox, file } = await servedDocument(DOCUMENTS[0]);
  const args = ['mock', '--host', '127.0.0.1', '--port', '0', '--errors', ...flags, file];
  const mock = await startTool('prism', args, sandbox.out);
  const [, address = ''] = await mock.waitFor('stdout', /listening on (http:\/\/127\.0\.0\.1:\d+)/);
  return { FOLEY_BASE_URL: address, FOLEY_API_KEY: canaryKey() };
}

test.each([
  ['with the examples of its schemas', []],
  ['with whatever its schemas allow', ['--dynamic', '--seed', 'foley']],
])('a mock made of the document answers %s, and foley is content', async (_how, flags) => {
  const env = await startMock(flags);
  for (const command of ['voices list', 'models list', 'profile']) {
    for (const more of [[], ['--json']]) {
      const result = await runFoley([...command.split(' '), ...more], { env });
      expect(result.code, `${command}: ${result.stderr}`).toBe(0);
      expect(result.stdout.length).toBeGreaterThan(10);
    }
  }
});
