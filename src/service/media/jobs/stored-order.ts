import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import type { MediaJob } from './media-job-records.ts';

/** What was stored when the job was accepted. @throws TypeError when it is something else */
export function storedOrder<Schema extends TSchema>(
  schema: Schema,
  { id, order }: Pick<MediaJob, 'id' | 'order'>,
): Static<Schema> {
  if (Check(schema, order)) return order;
  throw new TypeError(`what was stored for job ${id} cannot be read`);
}
