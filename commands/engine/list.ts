import type { CommandDefinition } from '../../src/cli/command.ts';
import { engineDocument, formatBytes, languagesOf } from '../shared/engine-list.ts';
import type { ListFlags } from '../../src/cli/flags/lists.ts';
import { listOptions } from '../../src/cli/flags/lists.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { Column, ListDocument } from '../../src/cli/render/table.ts';
import type { EngineRegistration } from '../../src/contract/engine.ts';
import type { EngineDocument } from '../shared/engine-list.ts';

export type EngineListDocument = ListDocument<EngineDocument>;

export const definition: CommandDefinition<ListFlags, EngineListDocument> = {
  configure(command) {
    command.description(
      'Lists the engines installed in the embedded service, with the disk space that each uses. With ' +
        '--json also the voices.',
    );
    addOptions(command, listOptions(COLUMNS));
  },
  async run(context, { options }) {
    const { installedBytes, loadEngineRegistrations, registrationsFile } =
      await import('../../src/engines/registrations.ts');
    const { engines: folder, models } = await context.paths();
    const engines = await loadEngineRegistrations(context.system.files, registrationsFile(folder));
    const sizes = await Promise.all(
      engines.map((engine) => installedBytes(engine, context.system.files, [folder, models])),
    );
    const rows = engines.map((engine, at) => ({ ...engine, bytes: sizes[at] }));
    const { listOrNotice } = await import('../../src/cli/render/table.ts');
    return {
      data: { items: rows.map((row) => engineDocument(row, row.bytes)), total: rows.length },
      ...listOrNotice(rows, COLUMNS, { names: options.columns, notice: NONE }),
    };
  },
};

const NONE =
  'No engines. `foley engine add kokoro` adds more voices, and `foley engine add espeak-ng` 18 languages.';

const COLUMNS: readonly Column<EngineRegistration & { readonly bytes: number | undefined }>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'LICENSE', value: ({ license }) => license },
  { title: 'VOICES', value: ({ voices }) => String(voices.length) },
  { title: 'LANGUAGES', value: languagesOf },
  {
    title: 'SIZE',
    value: ({ bytes }) => (bytes === undefined ? '' : formatBytes(bytes)),
    exact: ({ bytes }) => `${bytes ?? ''}`,
    whole: true,
  },
  { title: 'COMMAND', value: ({ command, args }) => [command, ...args].join(' ') },
];
