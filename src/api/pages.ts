import type { JsonAnswer } from './response.ts';
import { isRecord } from './response.ts';

/** One page of a list, as every list of the service has it. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly page: number;
  readonly totalPages: number;
}

/** An item, and what it came as, with the fields that foley does not know. */
export interface ListedItem<Item> {
  readonly item: Item;
  readonly raw: unknown;
}

/** Every item, page after page from the first; ends with the first page that has none. */
export async function* allItems<Item>(
  list: (page: number) => Promise<JsonAnswer<Page<Item>>>,
): AsyncGenerator<ListedItem<Item>, void, undefined> {
  for (let page = 1; ; page += 1) {
    const { value, raw } = await list(page);
    const items: unknown = isRecord(raw) ? raw['items'] : undefined;
    for (const [index, item] of value.items.entries()) {
      yield { item, raw: Array.isArray(items) ? items[index] : item };
    }
    if (value.items.length === 0 || page >= value.totalPages) return;
  }
}

/** The counts of a page; what the service leaves out is made up from what is there. */
export function readPage<Item>(
  body: unknown,
  readItem: (item: unknown) => Item | undefined,
): Page<Item> | undefined {
  if (!isRecord(body) || !Array.isArray(body['items'])) return undefined;
  const items = body['items'].map((item) => readItem(item));
  if (!items.every((item) => item !== undefined)) return undefined;
  const { page, total, totalPages } = body;
  return {
    items,
    total: numberOr(total, items.length),
    page: numberOr(page, 1),
    totalPages: numberOr(totalPages, 1),
  };
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
