import type { JsonAnswer } from '../../src/api/response.ts';
import type { ApiClient } from '../../src/api/client.ts';
import type { Page } from '../../src/api/resources/voices.ts';
import { allItems } from '../../src/api/resources/voices.ts';
import type { ListedVoiceV1 } from '../../src/api/resources/voices.ts';
import { listCompatVoices, listVoicesV1, listVoices } from '../../src/api/resources/voices.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import type { Voice } from '../../src/contract/voices.ts';
import type { VoicesListFlags, VoiceSurface } from './list-surface.ts';

/** Who is asked. */
export interface Asking {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
}

/** Lists voices on one interface, a page or all of them. */
export async function showVoices(
  surface: VoiceSurface,
  flags: VoicesListFlags,
  asking: Asking,
): Promise<CommandResult> {
  const { client, signal } = asking;
  switch (surface) {
    case 'v3': {
      const { includePersonal } = flags;
      const list = (stretch: Stretch) =>
        listVoices(client, { ...stretch, includePersonal, signal });
      return showPages({ list, columns: COLUMNS }, flags);
    }
    case 'v1': {
      const { includePersonal, language, provider, search, supportsLanguage } = flags;
      const names = { language, supportsLanguage, search, provider };
      const filters = { modelType: flags.type, includePersonal, ...names };
      const list = (stretch: Stretch) => listVoicesV1(client, { ...stretch, ...filters, signal });
      return showPages({ list, columns: V1_COLUMNS }, flags);
    }
    case 'compat': {
      const { raw, value } = await listCompatVoices(client, signal);
      const items = flags.all === true ? Object(raw).voices : undefined;
      const data = items === undefined ? raw : { items, total: value.length };
      return present(value, COMPAT_COLUMNS, data);
    }
  }
}

interface Stretch {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
}

type NamedVoice = Pick<Voice, 'name' | 'voiceId'>;

interface Source<Row> {
  readonly list: (stretch: Stretch) => Promise<JsonAnswer<Page<Row>>>;
  readonly columns: readonly Column<Row>[];
}

async function showPages<Row extends NamedVoice>(
  { columns, list }: Source<Row>,
  { all, page, pageSize }: VoicesListFlags,
): Promise<CommandResult> {
  if (all === true) {
    const rows: Row[] = [];
    const items: unknown[] = [];
    for await (const listed of allItems((number) =>
      list({ page: number, pageSize: PAGE_SIZE_MAX }),
    )) {
      rows.push(listed.item);
      items.push(listed.raw);
    }
    return present(rows, columns, { items, total: items.length });
  }
  const { value, raw } = await list({ page, pageSize });
  const shown = await present(value.items, columns, raw);
  if (value.totalPages <= value.page) return shown;
  const notice = `foley: page ${value.page} of ${value.totalPages}; --all shows all ${value.total}`;
  return { ...shown, notice };
}

async function present<Row extends NamedVoice>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  data: unknown,
): Promise<CommandResult> {
  const { tableOrNotice } = await import('../../src/cli/render/table.ts');
  const names = rows.map(({ name, voiceId }) => ({ name: voiceId, about: name }));
  return {
    data,
    seen: { kind: 'voice', names },
    ...tableOrNotice(rows, columns, 'There are no voices.'),
  };
}

const COLUMNS: readonly Column<Voice>[] = [
  { title: 'ID', value: ({ voiceId }) => voiceId, whole: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'LANGUAGE', value: ({ primaryLanguage }) => primaryLanguage },
  { title: 'MODELS', value: ({ modelIds }) => modelIds.join(', ') },
];

/** v1 tells neither languages nor models of a voice, and the compatibility list even less. */
const COMPAT_COLUMNS: readonly Column<ListedVoiceV1>[] = [
  { title: 'ID', value: ({ voiceId }) => voiceId, whole: true },
  { title: 'NAME', value: ({ name }) => name },
];

const V1_COLUMNS: readonly Column<ListedVoiceV1>[] = [
  ...COMPAT_COLUMNS,
  { title: 'KIND', value: ({ isPersonal }) => (isPersonal ? 'personal' : 'public') },
  { title: 'DESCRIPTION', value: ({ description }) => description },
];
