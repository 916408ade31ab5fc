import type { CommandDefinition } from '../../src/cli/command.ts';
import { EXIT_CODES } from '../../src/contract/exit-codes.ts';
import { globalOptions, helpOption } from '../../src/cli/flags/global.ts';

/** `foley help exit-codes`: the table of the contract's section 4. */
export const exitCodes: CommandDefinition = {
  configure(command) {
    command.description('Shows what the exit codes mean, for every command.');
  },
  async run() {
    const { wrappedRows } = await import('../../src/cli/render/table.ts');
    const items = Object.entries(EXIT_CODES).map(([name, { code, meaning }]) => ({
      name,
      code,
      meaning,
    }));
    return {
      data: { items, total: items.length },
      human: (style) =>
        wrappedRows(
          ['CODE', 'MEANING'],
          items.map(({ code, meaning }) => ({ cells: [`${code}`], text: meaning })),
          style,
        ),
    };
  },
};

/** `foley help flags`: the flags that every command has. */
export const globalFlags: CommandDefinition = {
  configure(command) {
    command.description('Shows the global flags. They work before and after the command.');
  },
  async run() {
    const { wrappedRows } = await import('../../src/cli/render/table.ts');
    const items = [...globalOptions(), helpOption()].map(({ description, flags }) => ({
      flags,
      description,
    }));
    return {
      data: { items, total: items.length },
      human: (style) =>
        wrappedRows(
          ['FLAG', 'MEANING'],
          items.map(({ description, flags }) => ({ cells: [flags], text: description })),
          style,
        ),
    };
  },
};
