import SwaggerParser from '@apidevtools/swagger-parser';
import { describe, expect, test } from 'vitest';
import { DOCUMENTS, servedDocument } from './served-document.ts';
import { startTool } from './tools.ts';

/**
 * What the linter says of a document that is right: neither a redirect nor the address of a WebSocket has
 * a success of its own.
 */
const EXPECTED = [
  'operation-2xx-response #/paths/~1api~1open~1tts~1jobs~1{taskId}~1audio/get/responses',
  ...['v1', 'v2', 'v3'].map(
    (version) => `operation-2xx-response #/paths/~1${version}~1tts~1live/get/responses`,
  ),
];

describe.each(DOCUMENTS)('the document at %s', (from) => {
  test('passes the linter of Redocly, warnings included', async () => {
    const { sandbox, file } = await servedDocument(from);
    const linter = await startTool('redocly', ['lint', '--format=json', file], sandbox.out);
    const { code, stdout, stderr } = await linter.done;
    expect(code, stderr).toBe(0);
    const { problems, totals } = Object(JSON.parse(stdout.toString()));
    expect(totals).toMatchObject({ errors: 0 });
    expect(problems.map((problem: unknown) => named(problem))).toEqual(EXPECTED);
  });

  test('passes the validator of swagger-parser', async () => {
    const { document } = await servedDocument(from);
    await expect(SwaggerParser.validate(Object(document))).resolves.toMatchObject({
      openapi: '3.1.0',
    });
  });
});

function named(problem: unknown): string {
  const { ruleId, location } = Object(problem);
  return `${ruleId} ${location?.[0]?.pointer}`;
}
