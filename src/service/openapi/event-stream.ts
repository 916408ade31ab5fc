import {
  ALIGNED_EVENTS,
  AlignedAudio,
  AlignedCompleted,
  AlignedError,
  AlignmentInvalidated,
  AlignmentSnapshot,
} from '../../contract/schemas/aligned.ts';
import { schemaOrReference } from './schemas.ts';

/** The data of each event. */
const DATA: Readonly<Record<(typeof ALIGNED_EVENTS)[number], object>> = {
  audio: AlignedAudio,
  alignment_snapshot: AlignmentSnapshot,
  alignment_invalidated: AlignmentInvalidated,
  completed: AlignedCompleted,
  error: AlignedError,
};

/** The body of an aligned stream (spec section 6.1); OpenAPI 3.1 has no words for events of their own. */
export function eventStreamContent(): Readonly<Record<string, unknown>> {
  const names = ALIGNED_EVENTS.join(', ');
  return {
    'text/event-stream': {
      schema: {
        type: 'string',
        description: `Server-sent events, named ${names}; the data of each is an object in a line of JSON. The last is completed or error.`,
      },
      'x-events': Object.fromEntries(
        ALIGNED_EVENTS.map((name) => [name, schemaOrReference(DATA[name])]),
      ),
    },
  };
}
