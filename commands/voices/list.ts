import { Option } from 'commander';
import type { JsonResponse } from '../../src/api/response.ts';
import type { ListedVoiceV1, PageOf } from '../../src/api/resources/voices.ts';
import {
  allItems,
  listCompatVoices,
  listVoices,
  listVoicesV1,
} from '../../src/api/resources/voices.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { collectAll, pageOptions } from '../shared/flags/jobs.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions, namedColumns } from '../../src/cli/flags/lists.ts';
import { addOptions, choiceOption, textOption } from '../../src/cli/flags/values.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { Column } from '../../src/cli/render/table.ts';
import { flagName } from '../../src/config/settings.ts';
import { PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import type { VoiceType } from '../../src/contract/values.ts';
import { VOICE_TYPES } from '../../src/contract/values.ts';
import type { Voice } from '../../src/contract/voices.ts';
import { usageFailure } from '../../src/errors/failure.ts';

const VOICE_SURFACES = ['v3', 'v1', 'compat'] as const;
type VoiceSurface = (typeof VOICE_SURFACES)[number];

interface VoicesListFlags extends ListFlags {
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

/** Defines the command `foley voices list` (docs/api/speech.md#v3, docs/api/other-clients.md and docs/api/voices.md). */
export const definition: CommandDefinition<VoicesListFlags> = {
  configure(command) {
    const surfaces = VOICE_SURFACES.join(', ');
    addOptions(command.description('Lists the voices of the service.'), [
      ...pageOptions('page-size', 'voices'),
      new Option('--include-personal', 'include your own voices'),
      choiceOption('--type <type>', `v1: ${VOICE_TYPES.join(', ')}`, VOICE_TYPES),
      textOption('--language <code>', 'v1: primary language'),
      textOption('--supports-language <code>', 'v1: any language of the voice'),
      textOption('--search <text>', 'v1: text in the name or description'),
      textOption('--provider <name>', 'v1: engine family'),
      choiceOption(
        '--api <surface>',
        `API surface: ${surfaces} (default: v3, or v1 for its filters)`,
        VOICE_SURFACES,
      ),
      ...listOptions(COLUMNS),
    ]);
  },
  async run(context, { options }) {
    const surface = chooseSurface(options);
    if (options.columns !== undefined) namedColumns(options.columns, TITLES[surface]);
    const { client } = await context.connect();
    const { signal } = context;
    const { includePersonal, language, provider, search, supportsLanguage, type } = options;
    switch (surface) {
      case 'v3':
        return showPages(options, COLUMNS, (range) =>
          listVoices(client, { ...range, includePersonal, signal }),
        );
      case 'v1': {
        const filters = { modelType: type, language, supportsLanguage, search, provider };
        return showPages(options, V1_COLUMNS, (range) =>
          listVoicesV1(client, { ...range, includePersonal, ...filters, signal }),
        );
      }
      case 'compat': {
        const { raw, value } = await listCompatVoices(client, signal);
        const items = options.all === true ? Object(raw).voices : undefined;
        const data = items === undefined ? raw : { items, total: value.length };
        return present(value, COMPAT_COLUMNS, { data, names: options.columns });
      }
    }
  },
};

const V1_FILTERS = ['type', 'language', 'supportsLanguage', 'search', 'provider'] as const;
const PAGE_FLAGS = ['page', 'pageSize', 'includePersonal'] as const;

function chooseSurface(flags: VoicesListFlags): VoiceSurface {
  const filter = V1_FILTERS.find((name) => flags[name] !== undefined);
  const { api = filter === undefined ? 'v3' : 'v1' } = flags;
  const paging =
    api === 'compat' ? PAGE_FLAGS.find((name) => flags[name] !== undefined) : undefined;
  const unknown = api === 'v1' ? undefined : (filter ?? paging);
  if (unknown === undefined) return api;
  throw usageFailure(
    `${flagName(unknown)} does not work with --api ${api}`,
    api === 'compat' ? '--api compat lists all voices at once.' : 'Use --api v1.',
  );
}

type VoiceRow = Voice | ListedVoiceV1;

async function showPages<Row extends VoiceRow>(
  {
    all,
    columns: names,
    language,
    page,
    pageSize,
    supportsLanguage: code = language,
  }: VoicesListFlags,
  columns: readonly Column<Row>[],
  list: (range: {
    page?: number | undefined;
    pageSize?: number | undefined;
  }) => Promise<JsonResponse<PageOf<Row>>>,
): Promise<CommandResult> {
  if (all === true) {
    const { data, rows } = await collectAll(
      allItems((number) => list({ page: number, pageSize: PAGE_SIZE_MAX })),
    );
    return present(rows, columns, { data, names, code });
  }
  const { value, raw } = await list({ page, pageSize });
  const shown = await present(value.items, columns, { data: raw, names, code });
  if (value.totalPages <= value.page) return shown;
  const notice = `foley: page ${value.page} of ${value.totalPages}; --all shows all ${value.total}`;
  return { ...shown, notice };
}

async function present<Row extends VoiceRow>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  {
    code,
    data,
    names,
  }: {
    readonly data: unknown;
    readonly names: readonly string[] | undefined;
    /** The language that the voices must speak; undefined for any. */
    readonly code?: string | undefined;
  },
): Promise<CommandResult> {
  const { listOrNotice } = await import('../../src/cli/render/table.ts');
  // Only the embedded service and v1 describe voices.
  const shown =
    names === undefined ? columns.filter((column) => isDescribed(column, rows)) : columns;
  const seen = rows.map(({ name, voiceId }) => ({ name: voiceId, about: name }));
  return {
    data,
    seen: { kind: 'voice', names: seen },
    ...listOrNotice(rows, shown, {
      names,
      notice: code === undefined ? 'No voices.' : noVoicesFor(code),
    }),
  };
}

// The service compares whole codes.
function noVoicesFor(code: string): string {
  return (
    `No voices of the language "${code}". A language has the code that \`foley voices list\` shows, such as en-US; ` +
    '`foley engine add` adds voices of other languages.'
  );
}

function isDescribed<Row>({ title, value }: Column<Row>, rows: readonly Row[]): boolean {
  return title !== DESCRIPTION.title || rows.some((row) => value(row) !== '');
}

const ID: Column<VoiceRow> = { title: 'ID', value: ({ voiceId }) => voiceId, whole: true };
const NAME: Column<VoiceRow> = { title: 'NAME', value: ({ name }) => name };
const KIND: Column<VoiceRow> = {
  title: 'KIND',
  value: ({ isPersonal }) => (isPersonal ? 'personal' : 'public'),
};
const DESCRIPTION: Column<VoiceRow> = {
  title: 'DESCRIPTION',
  value: ({ description = '' }) => description,
  narrowest: 40,
};

const COLUMNS: readonly Column<Voice>[] = [
  ID,
  NAME,
  { title: 'LANGUAGE', value: ({ primaryLanguage }) => primaryLanguage },
  DESCRIPTION,
  { title: 'MODELS', value: ({ modelIds }) => modelIds.join(', '), optional: true },
  { title: 'LANGUAGES', value: ({ languages }) => languages.join(', '), isExtra: true },
  { ...KIND, isExtra: true },
];

const COMPAT_COLUMNS: readonly Column<VoiceRow>[] = [ID, NAME];

const V1_COLUMNS: readonly Column<ListedVoiceV1>[] = [ID, NAME, KIND, DESCRIPTION];

const TITLES: Readonly<Record<VoiceSurface, readonly { readonly title: string }[]>> = {
  v3: COLUMNS,
  v1: V1_COLUMNS,
  compat: COMPAT_COLUMNS,
};
