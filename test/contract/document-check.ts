import assert from 'node:assert/strict';
import SwaggerParser from '@apidevtools/swagger-parser';
import { Check } from 'typebox/schema';
import type { Answer, ServiceUnderTest } from './service-under-test.ts';

/**
 * The same service, each answer of which is held against its own OpenAPI document: the status is
 * described there for that endpoint, and JSON has the schema that is.
 */
export async function withDocumentCheck(service: ServiceUnderTest): Promise<ServiceUnderTest> {
  const answer = await service.ask('GET /api/open/v3/openapi.json');
  const document: unknown = await SwaggerParser.dereference(Object(answer.json()));
  const endpoints = endpointsOf(document);
  return {
    ...service,
    async ask(endpoint, options = {}) {
      const given = await service.ask(endpoint, options);
      const known = endpoints.find(({ pattern }) => pattern.test(endpoint));
      // What there is no endpoint for has no description either.
      if (known !== undefined && options.firstBytesOnly !== true) claimDescribed(known, given);
      return given;
    },
  };
}

interface Described {
  readonly name: string;
  readonly pattern: RegExp;
  readonly responses: Readonly<Record<string, unknown>>;
}

function endpointsOf(document: unknown): readonly Described[] {
  return Object.entries(Object(document).paths).flatMap(([path, item]) =>
    Object.entries(Object(item)).map(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const pattern = new RegExp(`^${name.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
      return { name, pattern, responses: Object(operation).responses };
    }),
  );
}

function claimDescribed({ name, responses }: Described, answer: Answer): void {
  const response = responses[answer.status];
  assert.ok(response !== undefined, `${name} answers ${answer.status}, which is not described`);
  const type = (answer.header('Content-Type') ?? '').split(';', 1).join();
  const content = new Map<string, unknown>(Object.entries(Object(response).content ?? {}));
  if (content.size === 0) return;
  const described = [...content].find(([one]) => one.split(';', 1).join() === type);
  assert.ok(described !== undefined, `${name} answers with ${type}, which is not described`);
  const { schema } = Object(described[1]);
  if (type !== 'application/json' || schema === undefined) return;
  const body = answer.json();
  const shown = JSON.stringify(body).slice(0, 300);
  assert.ok(Check(schema, body), `${name} answers with JSON that is not as described: ${shown}`);
}
