import { PAGE_SIZE_MAX } from '../contract/limits.ts';
import type { JsonAnswer } from './answer.ts';
import type { ApiClient } from './client.ts';
import { endpoint } from './endpoint.ts';
import type { ListedItem } from './pages.ts';
import { isRecord } from './shape.ts';
import type { JobApi } from './speech-job.ts';

/** Which jobs are asked for (spec sections 4.1 and 4.3). */
export interface JobQuery {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly status?: string | undefined;
  /** ISO 8601; v1 only. */
  readonly createdAfter?: string | undefined;
}

/** What a list tells of a job, in the words of both interfaces (spec section 2.4). */
export interface ListedJob {
  readonly id: string;
  readonly status: string;
  readonly characters: number | undefined;
  readonly textPreview: string;
  readonly voiceId: string;
  readonly modelId: string;
  readonly creditsUsed: number | undefined;
  readonly createdAt: string;
}

export interface JobPage {
  readonly items: readonly ListedJob[];
  readonly page: number;
  /** `undefined` on the last page. */
  readonly nextPage: number | undefined;
}

/** One page of the jobs of the account, the newest first. */
export function listSpeechJobs(
  client: ApiClient,
  api: JobApi,
  query: JobQuery,
  signal?: AbortSignal,
): Promise<JsonAnswer<JobPage>> {
  const call = endpoint(api === 'v3' ? 'listJobs' : 'listJobsV1');
  const spec = { ...call, query: { ...query }, billed: false, retry: 'safe', signal } as const;
  return client.json(spec, (body) => readJobPage(body, query.page ?? 1));
}

/** Every job that fits, page after page. */
export async function* allSpeechJobs(
  client: ApiClient,
  api: JobApi,
  query: Omit<JobQuery, 'limit' | 'page'>,
  signal?: AbortSignal,
): AsyncGenerator<ListedItem<ListedJob>, void, undefined> {
  const seen = new Set<string>();
  for (let page: number | undefined = 1; page !== undefined;) {
    const stretch: JobQuery = { ...query, page, limit: PAGE_SIZE_MAX };
    const { raw, value } = await listSpeechJobs(client, api, stretch, signal);
    const items: unknown = isRecord(raw) ? raw['items'] : undefined;
    for (const [index, item] of value.items.entries()) {
      // A job that is created meanwhile moves the others one place further.
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      yield { item, raw: Array.isArray(items) ? items[index] : item };
    }
    page = value.items.length === 0 ? undefined : value.nextPage;
  }
}

function readJobPage(body: unknown, asked: number): JobPage | undefined {
  if (!isRecord(body) || !Array.isArray(body['items'])) return undefined;
  const items = body['items'].map((item) => readListed(item));
  if (!items.every((item) => item !== undefined)) return undefined;
  const pagination = isRecord(body['pagination']) ? body['pagination'] : {};
  const { hasMore, nextPage, page } = pagination;
  const current = typeof page === 'number' ? page : asked;
  return { items, page: current, nextPage: pageAfter(current, nextPage, hasMore) };
}

/** The page that follows, only ever forward, whatever the service says; undefined after the last one. */
export function pageAfter(
  current: number,
  nextPage: unknown,
  hasMore: unknown,
): number | undefined {
  if (typeof nextPage === 'number' && nextPage > current) return nextPage;
  return hasMore === true ? current + 1 : undefined;
}

function readListed(body: unknown): ListedJob | undefined {
  if (!isRecord(body)) return undefined;
  const id = text(body['taskId']) ?? text(body['id']);
  const status = text(body['status']);
  if (id === undefined || status === undefined) return undefined;
  return {
    id,
    status,
    characters: number(body['characters']),
    textPreview: text(body['textPreview']) ?? '',
    voiceId: text(body['voiceId']) ?? '',
    modelId: text(body['modelId']) ?? text(body['engineModelId']) ?? '',
    creditsUsed: number(body['creditsUsed']),
    createdAt: text(body['createdAt']) ?? '',
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
