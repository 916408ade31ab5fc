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

/**
 * The body of an aligned stream (spec section 6.1). OpenAPI 3.1 has no words for events of their own:
 * the schema is that of one event, as readers of such streams take it.
 */
export function eventStreamContent(): Readonly<Record<string, unknown>> {
  const events = ALIGNED_EVENTS.map((name) => ({
    type: 'object',
    required: ['event', 'data'],
    properties: { event: { const: name }, data: schemaOrReference(DATA[name]) },
  }));
  const description =
    'One server-sent event; its data is JSON in one line. The last event is completed or error.';
  return { 'text/event-stream': { schema: { description, oneOf: events } } };
}
