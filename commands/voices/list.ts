import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { integerWithin, oneOf } from '../../src/cli/flags/values.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import { VOICE_TYPES } from '../../src/contract/values.ts';
import { filled } from '../../src/cli/flags/speech.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { VoiceType } from '../../src/contract/values.ts';
import type { JsonResponse } from '../../src/api/response.ts';
import type { ApiClient } from '../../src/api/client.ts';
import type { Page } from '../../src/api/resources/voices.ts';
import { allItems } from '../../src/api/resources/voices.ts';
import type { ListedVoiceV1 } from '../../src/api/resources/voices.ts';
import { listCompatVoices, listVoicesV1, listVoices } from '../../src/api/resources/voices.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { Voice } from '../../src/contract/voices.ts';

/** `foley voices list` (docs/api/speech.md#v3, docs/api/other-clients.md and docs/api/voices.md). */
export const voicesList: CommandDefinition<VoicesListFlags> = {
  configure(command) {
    command
      .description('Lists the voices of the service.')
      .addOption(
        new Option('--page <n>', 'page number, from 1').argParser(
          integerWithin('--page', { minimum: 1 }),
        ),
      )
      .addOption(
        new Option(
          '--page-size <n>',
          `voices a page, at most ${PAGE_SIZE_MAX} (default: ${PAGE_SIZE_DEFAULT})`,
        ).argParser(integerWithin('--page-size', { minimum: 1, maximum: PAGE_SIZE_MAX })),
      )
      .addOption(new Option('--all', 'every page').conflicts(['page', 'pageSize']))
      .addOption(new Option('--include-personal', 'include your own voices'));
    for (const option of filterOptions()) command.addOption(option);
  },
  async run(context, { options }) {
    const surface = chooseVoiceSurface(options);
    const { client } = await context.connect();
    return showVoices(surface, options, { ...context, client });
  },
};

function filterOptions(): Option[] {
  return [
    new Option('--type <type>', `v1: ${VOICE_TYPES.join(', ')}`).argParser(
      oneOf('--type', VOICE_TYPES),
    ),
    textOption('--language <code>', 'v1: primary language'),
    textOption('--supports-language <code>', 'v1: any language of the voice'),
    textOption('--search <text>', 'v1: text in the name or description'),
    textOption('--provider <name>', 'v1: engine family'),
    new Option(
      '--api <surface>',
      `API surface: ${VOICE_SURFACES.join(', ')} (default: v3, or v1 for its filters)`,
    ).argParser(oneOf('--api', VOICE_SURFACES)),
  ];
}

function textOption(flags: string, description: string): Option {
  const [flag = ''] = flags.split(' ');
  return new Option(flags, description).argParser(filled(flag));
}

export interface VoicesListFlags {
  readonly page?: number;
  readonly pageSize?: number;
  readonly all?: true;
  readonly includePersonal?: true;
  readonly type?: VoiceType;
  readonly language?: string;
  readonly supportsLanguage?: string;
  readonly search?: string;
  readonly provider?: string;
  readonly api?: VoiceSurface;
}

/** The interfaces that list voices. */
export const VOICE_SURFACES = ['v3', 'v1', 'compat'] as const;
export type VoiceSurface = (typeof VOICE_SURFACES)[number];

/** Filters of v1 only, and paging flags that the compatibility list does not have. */
const V1_FILTERS = ['type', 'language', 'supportsLanguage', 'search', 'provider'] as const;
const PAGE_FLAGS = ['page', 'pageSize', 'includePersonal'] as const;
const FLAG_NAMES: Readonly<Record<(typeof V1_FILTERS | typeof PAGE_FLAGS)[number], string>> = {
  type: '--type',
  language: '--language',
  supportsLanguage: '--supports-language',
  search: '--search',
  provider: '--provider',
  page: '--page',
  pageSize: '--page-size',
  includePersonal: '--include-personal',
};

/**
 * The interface to ask: the one that is named, else v1 where a filter needs it.
 * @throws Failure (usage) naming a flag that the named one does not have
 */
export function chooseVoiceSurface(flags: VoicesListFlags): VoiceSurface {
  const filter = V1_FILTERS.find((name) => flags[name] !== undefined);
  const { api } = flags;
  if (api === undefined) return filter === undefined ? 'v3' : 'v1';
  const paging = PAGE_FLAGS.find((name) => flags[name] !== undefined);
  const unknown = api === 'v1' ? undefined : (filter ?? (api === 'compat' ? paging : undefined));
  if (unknown === undefined) return api;
  throw usageFailure(
    `${FLAG_NAMES[unknown]} does not work with --api ${api}`,
    api === 'compat' ? 'It lists all voices at once.' : 'Use --api v1.',
  );
}

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
  readonly list: (stretch: Stretch) => Promise<JsonResponse<Page<Row>>>;
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
    ...tableOrNotice(rows, columns, 'No voices.'),
  };
}

const COLUMNS: readonly Column<Voice>[] = [
  { title: 'ID', value: ({ voiceId }) => voiceId, whole: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'LANGUAGE', value: ({ primaryLanguage }) => primaryLanguage },
  { title: 'MODELS', value: ({ modelIds }) => modelIds.join(', ') },
];

/** v1 lists no languages and models, the compatibility list only ids and names. */
const COMPAT_COLUMNS: readonly Column<ListedVoiceV1>[] = [
  { title: 'ID', value: ({ voiceId }) => voiceId, whole: true },
  { title: 'NAME', value: ({ name }) => name },
];

const V1_COLUMNS: readonly Column<ListedVoiceV1>[] = [
  ...COMPAT_COLUMNS,
  { title: 'KIND', value: ({ isPersonal }) => (isPersonal ? 'personal' : 'public') },
  { title: 'DESCRIPTION', value: ({ description }) => description },
];
