import type { CommandDefinition } from '../../src/cli/command.ts';
import { engineDocument, languagesOf } from '../../src/cli/engine-list.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { EngineRegistration } from '../../src/contract/engine.ts';

export const engineList: CommandDefinition = {
  configure(command) {
    command.description('Lists the engines installed in the embedded service.');
  },
  async run(context) {
    const { loadEngineRegistrations, registrationsFile } =
      await import('../../src/engines/registrations.ts');
    const { engines: folder } = await context.paths();
    const engines = await loadEngineRegistrations(context.files, registrationsFile(folder));
    const { tableOrNotice } = await import('../../src/cli/render/table.ts');
    return {
      data: { items: engines.map((engine) => engineDocument(engine)), total: engines.length },
      ...tableOrNotice(engines, COLUMNS, NONE),
    };
  },
};

const NONE = 'No engines. `foley engine add espeak-ng` adds 18 languages.';

const COLUMNS: readonly Column<EngineRegistration>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'LICENSE', value: ({ license }) => license },
  { title: 'VOICES', value: ({ voices }) => String(voices.length) },
  { title: 'LANGUAGES', value: languagesOf },
  { title: 'COMMAND', value: ({ command, args }) => [command, ...args].join(' ') },
];
