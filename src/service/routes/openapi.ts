import type { Handler } from './call.ts';

/** `GET /openapi.json` (spec section 4.1): what this service has, generated from its own tables. */
export const getOpenApi: Handler = async () => {
  const { openApiDocument } = await import('../openapi/document.ts');
  return Response.json(openApiDocument());
};
