import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column, ListDocument } from '../../src/cli/render/table.ts';
import { formatBytes } from '../shared/engine-list.ts';
import { reuseFolder } from '../shared/journal.ts';

/** Stored audio, as `foley reuse list --json` prints it. Without its metadata, the file is damaged. */
interface StoredRow {
  readonly id: string;
  /** When the audio was bought, in ISO 8601; null for a damaged file. */
  readonly boughtAt: string | null;
  /** When a command last stored or copied the audio, in ISO 8601. */
  readonly usedAt: string;
  /** The URL of the service, or `embedded`; null for a damaged file. */
  readonly service: string | null;
  readonly format: string | null;
  /** Size of the file in bytes. */
  readonly bytes: number;
  readonly durationMs: number | null;
  /** What the audio cost; null if unknown. */
  readonly creditsUsed: number | null;
  /** Id of the request that bought the audio. */
  readonly requestId: string | null;
  /** Whether word times are stored, which captions need. */
  readonly hasWordTimes: boolean;
}

export interface StoredAudioList extends ListDocument<StoredRow> {
  /** Size of all files in bytes. */
  readonly bytes: number;
  /** The setting `reuse.maxSize` in bytes. */
  readonly maxBytes: number;
  readonly folder: string;
}

/** Defines the command `foley reuse list`. */
export const definition: CommandDefinition<ListFlags, StoredAudioList> = {
  configure(command) {
    command.description(
      'Lists the audio that --reuse stored, the last used first. Sends nothing to the service.',
    );
    addOptions(command, listOptions(COLUMNS));
  },
  async run(context, { options }) {
    const { listStored } = await import('../../src/paid/reuse/reuse-folder.ts');
    const { folder, maxBytes } = await reuseFolder(context);
    const items = (await listStored(context.system, folder)).map(
      ({ fileBytes, id, metadata, usedAt }): StoredRow => ({
        id,
        boughtAt: metadata?.at ?? null,
        usedAt: new Date(usedAt).toISOString(),
        service: metadata?.service ?? null,
        format: metadata?.format ?? null,
        bytes: fileBytes,
        durationMs: metadata?.durationMs ?? null,
        creditsUsed: metadata?.creditsUsed ?? null,
        requestId: metadata?.requestId ?? null,
        hasWordTimes: (metadata?.outcome ?? null) !== null,
      }),
    );
    const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
    const { listOrNotice } = await import('../../src/cli/render/table.ts');
    return {
      data: { items, total: items.length, bytes, maxBytes, folder },
      ...listOrNotice(items, COLUMNS, { names: options.columns, notice: NONE }),
    };
  },
};

const NONE = 'No stored audio. A command with --reuse stores the audio that it buys.';

const COLUMNS: readonly Column<StoredRow>[] = [
  { title: 'BOUGHT', value: ({ boughtAt }) => boughtAt ?? 'damaged', whole: true },
  { title: 'USED', value: ({ usedAt }) => usedAt, whole: true },
  { title: 'SERVICE', value: ({ service }) => service ?? '' },
  { title: 'FORMAT', value: ({ format }) => format ?? '' },
  {
    title: 'SIZE',
    value: ({ bytes }) => formatBytes(bytes),
    exact: ({ bytes }) => `${bytes}`,
    whole: true,
  },
  { title: 'CREDITS', value: ({ creditsUsed }) => `${creditsUsed ?? ''}`, whole: true },
  { title: 'REQUEST', value: ({ requestId }) => requestId ?? '', optional: true },
  { title: 'ID', value: ({ id }) => id, isExtra: true },
];
