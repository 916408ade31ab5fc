import type { CommandDefinition } from '../../src/cli/command.ts';
import { globalOptions, helpOption } from '../../src/cli/flags/global.ts';
import type { ListDocument } from '../../src/cli/render/table.ts';

interface GlobalFlagRow {
  readonly flags: string;
  readonly description: string;
}

export type GlobalFlagList = ListDocument<GlobalFlagRow>;

export const definition: CommandDefinition<object, GlobalFlagList> = {
  configure(command) {
    command.description('Shows the global flags. They work before and after the command.');
  },
  async run() {
    const { wrappedRows } = await import('../../src/cli/render/table.ts');
    const options = [...globalOptions(), helpOption()];
    const items = options.map(({ description, flags }) => ({ flags, description }));
    const rows = items.map(({ description, flags }) => ({ cells: [flags], text: description }));
    return {
      data: { items, total: items.length },
      human: (style) => wrappedRows(['FLAG', 'MEANING'], rows, style),
    };
  },
};
