import {
  ALIGNED_EVENTS,
  AlignedAudio,
  AlignedCompleted,
  AlignedError,
  AlignmentInvalidated,
  AlignmentSnapshot,
} from '../../contract/speech.ts';
import { CompatSpeechDelta, CompatSpeechDone } from '../../contract/other-clients.ts';
import { schemaOrReference } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** The data of each event. */
const DATA: Readonly<Record<(typeof ALIGNED_EVENTS)[number], object>> = {
  audio: AlignedAudio,
  alignment_snapshot: AlignmentSnapshot,
  alignment_invalidated: AlignmentInvalidated,
  completed: AlignedCompleted,
  error: AlignedError,
};

/**
 * Describes the body of an aligned stream (docs/api/speech.md#aligned-stream). OpenAPI 3.1 has no words for events: the
 * schema is that of one event as readers of such streams see it, its data a string.
 */
export function alignedContent(): Json {
  const events = ALIGNED_EVENTS.map((name) => ({
    type: 'object',
    required: ['event', 'data'],
    properties: { event: { const: name }, data: jsonText(schemaOrReference(DATA[name])) },
  }));
  const description =
    'One server-sent event; its data is JSON in one line. The last event is completed or error.';
  return { 'text/event-stream': { schema: { description, oneOf: events } } };
}

/** Describes the events of `POST /v1/audio/speech`, which have no names. */
export function compatSpeechContent(): Json {
  const oneOf = [CompatSpeechDelta, CompatSpeechDone].map((data) => schemaOrReference(data));
  const description = 'One server-sent event; its data is JSON in one line.';
  const properties = { data: jsonText({ oneOf }) };
  const schema = { description, type: 'object', required: ['data'], properties };
  return { 'text/event-stream': { schema } };
}

function jsonText(contentSchema: Json): Json {
  return { type: 'string', contentMediaType: 'application/json', contentSchema };
}
