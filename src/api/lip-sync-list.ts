import { PAGE_SIZE_MAX } from '../contract/limits.ts';
import type { JsonAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import { pageAfter } from './job-list.ts';
import type { MediaJob } from './media-job.ts';
import { readMediaData } from './media-job.ts';
import { isRecord } from './shape.ts';

/** Which lip-sync jobs are asked for (spec section 4.7). */
export interface LipSyncQuery {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
}

export interface LipSyncPage {
  readonly items: readonly MediaJob[];
  readonly page: number;
  /** `undefined` on the last page. */
  readonly nextPage: number | undefined;
}

/** One page of the lip-sync jobs of the account (spec section 4.7). */
export function listLipSync(
  client: ApiClient,
  query: LipSyncQuery,
  signal?: AbortSignal,
): Promise<JsonAnswer<LipSyncPage>> {
  const call = endpoint('listLipSync');
  const spec = { ...call, query: { ...query }, billed: false, retry: 'safe', signal } as const;
  return client.json(spec, (body) => readLipSyncPage(body, query.page ?? 1));
}

/** Every lip-sync job that fits, page after page. */
export async function* allLipSync(
  client: ApiClient,
  { status }: Pick<LipSyncQuery, 'status'>,
  signal?: AbortSignal,
): AsyncGenerator<MediaJob, void, undefined> {
  const seen = new Set<string>();
  for (let page: number | undefined = 1; page !== undefined;) {
    const { value } = await listLipSync(client, { status, page, limit: PAGE_SIZE_MAX }, signal);
    for (const job of value.items) {
      // A job that is created meanwhile moves the others one place further.
      if (!seen.has(job.id)) yield job;
      seen.add(job.id);
    }
    page = value.items.length === 0 ? undefined : value.nextPage;
  }
}

function readLipSyncPage(body: unknown, asked: number): LipSyncPage | undefined {
  if (!isRecord(body)) return undefined;
  const place = isRecord(body['data']) ? body['data'] : body;
  const given = [place['items'], place['jobs'], body['data']].find((list) => Array.isArray(list));
  if (!Array.isArray(given)) return undefined;
  const items = given.map((item) => (isRecord(item) ? readMediaData('lipsync', item) : undefined));
  if (!items.every((item) => item !== undefined)) return undefined;
  const told = place['pagination'] ?? body['pagination'];
  const { hasMore, nextPage, page } = isRecord(told) ? told : {};
  const current = typeof page === 'number' ? page : asked;
  return { items, page: current, nextPage: pageAfter(current, nextPage, hasMore) };
}
