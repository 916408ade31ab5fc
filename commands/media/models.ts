import type { MediaModel, MediaVariant } from '../../src/api/resources/models.ts';
import { listMediaModels } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { MediaType } from '../../src/contract/media.ts';

/** Defines the command `foley image models` or `foley video models` (docs/api/media.md). */
export function mediaModels(mediaType: MediaType): CommandDefinition<ListFlags> {
  return {
    configure(command) {
      command
        .description(
          `Lists the models for ${mediaType}s: variants, prices and the number of references.`,
        )
        .addHelpText('after', `\nExamples:\n  $ foley ${mediaType} models`);
      addOptions(command, listOptions(COLUMNS));
    },
    async run(context, { options: { columns: names } }) {
      const { client } = await context.connect();
      const { raw, value } = await listMediaModels(client, mediaType, context.signal);
      const { listOrNotice } = await import('../../src/cli/render/table.ts');
      const rows = value.flatMap((model) => rowsOf(model));
      return {
        data: raw,
        ...listOrNotice(rows, names === undefined ? columnsOf(rows) : COLUMNS, {
          names,
          notice: 'No models.',
        }),
      };
    },
  };
}

interface ModelRow {
  readonly model: MediaModel;
  readonly variant: MediaVariant | undefined;
}

function rowsOf(model: MediaModel): readonly ModelRow[] {
  const { variants } = model;
  return variants.length === 0
    ? [{ model, variant: undefined }]
    : variants.map((variant) => ({ model, variant }));
}

// Images have no seconds, videos no aspect ratio.
function columnsOf(rows: readonly ModelRow[]): readonly Column<ModelRow>[] {
  return COLUMNS.filter(({ value }) => rows.some((row) => value(row) !== ''));
}

const COLUMNS: readonly Column<ModelRow>[] = [
  { title: 'MODEL', value: ({ model }) => model.id, whole: true },
  { title: 'ASPECT RATIO', value: ({ variant }) => variant?.aspectRatio ?? '' },
  { title: 'RESOLUTION', value: ({ variant }) => variant?.resolution ?? '' },
  { title: 'SECONDS', value: ({ variant }) => `${variant?.seconds ?? ''}` },
  { title: 'SIZE', value: ({ variant }) => sizeOf(variant) },
  { title: 'CREDITS', value: ({ variant }) => `${variant?.credits ?? ''}` },
  { title: 'REFERENCES', value: ({ variant }) => `${variant?.referenceLimit ?? ''}` },
  { title: 'NOTE', value: ({ model }) => (model.available ? '' : 'not available') },
];

function sizeOf(variant: MediaVariant | undefined): string {
  const { height, size, width } = variant ?? {};
  if (size !== undefined) return size;
  return width === undefined || height === undefined ? '' : `${width}x${height}`;
}
