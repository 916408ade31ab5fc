import SwaggerParser from '@apidevtools/swagger-parser';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/contract/generated/endpoints.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { jsonPost, testService, voiceId } from './support/test-service.ts';

type Document = Awaited<ReturnType<typeof SwaggerParser.validate>>;

async function servedDocument(): Promise<{ document: Document; call: typeof fetchType }> {
  const { call } = await testService();
  const response = await call('/api/open/v3/openapi.json');
  expect(response.status).toBe(200);
  const document: Document = JSON.parse(await response.text());
  return { document, call };
}
declare const fetchType: Awaited<ReturnType<typeof testService>>['call'];

/** A job whose audio is there. */
async function finishedJob(call: typeof fetchType): Promise<string> {
  const path = '/api/open/v3/speech/tts/jobs';
  const created = await call(path, jsonPost({ text: 'Hello.', voiceId: voiceId('Clara') }));
  const { taskId } = Object(await created.json()).task;
  const status = async () => Object(await (await call(`${path}/${taskId}`)).json()).task.status;
  await expect.poll(status).toBe('success');
  return String(taskId);
}

function operationsOf(document: Document): readonly (readonly [string, string, unknown])[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item ?? {}).map(([method, operation]) => [method, path, operation] as const),
  );
}

describe('GET /api/open/v3/openapi.json', () => {
  it('is valid OpenAPI 3.1 in which every reference resolves', async () => {
    const { document } = await servedDocument();
    expect(document).toMatchObject({ openapi: '3.1.0' });
    await expect(SwaggerParser.validate(structuredClone(document))).resolves.toBeDefined();
    const text = JSON.stringify(await SwaggerParser.dereference(structuredClone(document)));
    expect(text).not.toContain('$ref');
  });

  it('states the ranges of the families that are narrower', async () => {
    const { document } = await servedDocument();
    const fields = Object(document).components.schemas.SpeechRequest.properties;
    expect(fields.stability.description).toContain(
      '0.5 to 1.5 with vendor models, 0 to 1 with altF models',
    );
    expect(fields.similarity.description).toContain(
      '0.5 to 1.5 with vendor models, 0 to 1 with altF models',
    );
    expect(fields.speed.description).toContain('0.7 to 1.2 with altF models');
  });

  it('has exactly the endpoints of the contract', async () => {
    const { document } = await servedDocument();
    const described = operationsOf(document).map(([method, path]) => `${method} ${path}`);
    const known = ENDPOINTS.map(({ method, path }) => `${method.toLowerCase()} ${path}`);
    expect(described.sort()).toEqual(known.sort());
  });

  it('describes nothing that does not answer', async () => {
    const { document, call } = await servedDocument();
    const jobId = await finishedJob(call);
    for (const [method, path] of operationsOf(document)) {
      const filled = path
        .replace('{voiceId}', voiceId('Clara'))
        .replace(/\{(?:jobId|taskId)\}/, jobId)
        .replace('{segmentIndex}', '0');
      const init = method === 'post' ? jsonPost({}) : { method: method.toUpperCase() };
      const response = await call(filled, init);
      // Some are asked for what is not there, or with another body than theirs; none is unknown.
      expect([200, 302, 400, 404, 415, 426, 501], path).toContain(response.status);
      if (response.status === 404) expect(await response.text()).not.toContain('no such endpoint');
    }
  });

  it('says of every body whether it may be left out', async () => {
    const { document, call } = await servedDocument();
    const optional = [];
    for (const [method, path, operation] of operationsOf(document)) {
      if (method !== 'post') continue;
      const { status } = await call(path.replaceAll(/\{\w+\}/g, 'nothing'), { method: 'POST' });
      expect([path, status < 300]).toEqual([path, !Object(operation).requestBody.required]);
      if (status < 300) optional.push(path);
    }
    expect(optional).toEqual(['/api/open/list-models']);
  });

  it('needs no key where the spec asks for none', async () => {
    const { document } = await servedDocument();
    const open = operationsOf(document)
      .filter(([, , operation]) => Object(operation).security?.length === 0)
      .map(([, path]) => path);
    expect(open.sort()).toEqual([
      '/api/open/media/files/{fileId}',
      '/api/open/tts/audio/{taskId}',
      '/api/open/tts/cached/{audioId}',
      '/api/open/v3/openapi.json',
      '/api/open/v3/speech/tts/capabilities',
      '/healthz',
      '/v1/tts/live',
    ]);
  });

  it('names every error code with its status', async () => {
    const { document } = await servedDocument();
    for (const [, , operation] of operationsOf(document)) {
      const { responses } = Object(operation);
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        for (const code of String(Object(response).description).split(', ')) {
          expect(new Map<string, number>(Object.entries(SERVICE_ERRORS)).get(code)).toBe(
            Number(status),
          );
        }
      }
    }
  });

  it('has a schema for every body, as generated clients need', async () => {
    const { document } = await servedDocument();
    for (const [, path, operation] of operationsOf(document)) {
      for (const [status, response] of Object.entries(Object(operation).responses)) {
        for (const [type, media] of Object.entries(Object(Object(response).content))) {
          const { schema } = Object(media);
          expect([path, status, type, schema]).toEqual([path, status, type, expect.any(Object)]);
          if (type === 'application/json') continue;
          expect(schema).toMatchObject({ type: 'string', format: 'binary' });
        }
      }
    }
  });

  it('has a format for every number that clients may read with too few bits', async () => {
    const { document } = await servedDocument();
    const numbers = partsOf(document).filter(({ type }) => [type].flat().includes('number'));
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers.filter(({ format }) => format !== 'double')).toEqual([]);
    const integers = partsOf(document).filter(({ type }) => [type].flat().includes('integer'));
    const wrong = integers.filter(
      ({ format, maximum = Infinity }) => Number(maximum) >= 2 ** 31 !== (format === 'int64'),
    );
    expect(wrong).toEqual([]);
    const { seed } = Object(document).components.schemas.ImageRequest.properties;
    expect(seed).toMatchObject({ maximum: 4_294_967_295, format: 'int64' });
  });

  it('has a type for every enumeration and constant, and no choice that is not exclusive', async () => {
    const { document } = await servedDocument();
    const schemas = partsOf(document).filter((part) => 'enum' in part || 'const' in part);
    expect(schemas.length).toBeGreaterThan(50);
    expect(schemas.filter(({ type }) => type !== 'string')).toEqual([]);
    expect(partsOf(document).filter((part) => 'anyOf' in part)).toEqual([]);
  });
});

/** Every object in a document. */
function partsOf(value: unknown): readonly Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap((part) => partsOf(part));
  return Array.isArray(value) ? inside : [Object(value), ...inside];
}
