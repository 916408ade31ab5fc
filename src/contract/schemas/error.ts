import { Type } from 'typebox';
import type { Static } from 'typebox';

/** The flat JSON error body of every endpoint (spec section 7). */
export const ErrorBody = Type.Object(
  {
    code: Type.String({ description: 'Stable error code' }),
    message: Type.String({ description: 'What went wrong, for a person' }),
    requestId: Type.String({ description: 'Trace id of the request; log it' }),
    details: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'More about some errors' }),
    ),
  },
  { $id: 'Error' },
);
export type ErrorBody = Static<typeof ErrorBody>;
