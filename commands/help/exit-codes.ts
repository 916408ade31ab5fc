import type { CommandDefinition } from '../../src/cli/command.ts';
import { EXIT_CODES } from '../../src/contract/exit-codes.ts';
import type { ListDocument } from '../../src/cli/render/table.ts';
import type { ExitCode } from '../../src/contract/exit-codes.ts';

interface ExitCodeRow {
  readonly name: string;
  readonly code: ExitCode;
  readonly meaning: string;
}

export type ExitCodeList = ListDocument<ExitCodeRow>;

export const definition: CommandDefinition<object, ExitCodeList> = {
  configure(command) {
    command.description('Shows what the exit codes mean, for every command.');
  },
  async run() {
    const { wrappedRows } = await import('../../src/cli/render/table.ts');
    const items = Object.entries(EXIT_CODES).map(([name, exit]) => ({ name, ...exit }));
    const rows = items.map(({ code, meaning }) => ({ cells: [`${code}`], text: meaning }));
    return {
      data: { items, total: items.length },
      human: (style) => wrappedRows(['CODE', 'MEANING'], rows, style),
    };
  },
};
