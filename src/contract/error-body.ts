import { Type } from 'typebox';
import type { Static } from 'typebox';
import { mapOf, named, RequestId } from './schemas.ts';

/** The flat JSON error body of every endpoint (docs/api/errors.md). */
export const ErrorBody = named('Error', {
  code: Type.String({ description: 'Stable error code' }),
  message: Type.String({ description: 'Error message for humans' }),
  requestId: RequestId,
  details: Type.Optional(
    mapOf(Type.Unknown(), 'Further data about the error, such as the invalid fields'),
  ),
});
export type ErrorBody = Static<typeof ErrorBody>;

export const OpenAiErrorBody = named('OpenAiError', {
  ...ErrorBody.properties,
  error: Type.Object(
    {
      message: Type.String({ description: 'Error message for humans' }),
      type: Type.String({ description: 'Kind of error, such as invalid_request_error' }),
      code: Type.String({ description: 'Stable error code' }),
      param: Type.Union([Type.String(), Type.Null()], {
        description: 'Name of the first invalid field (null if no field is invalid)',
      }),
    },
    { description: 'The error in the format of the OpenAI API' },
  ),
});
export type OpenAiErrorBody = Static<typeof OpenAiErrorBody>;

/** Returns whether a path serves OpenAI clients, which expect the error in the body field `error`. */
export function isOpenAiPath(path: string): boolean {
  return /^\/v1\/(?!tts(?:\/|$))/.test(path);
}
