import type { CommandDefinition } from '../../src/cli/command.ts';
import type { DescribedCommand } from '../../src/cli/described-command.ts';
import { everyCommand, readTree } from '../../src/cli/described-command.ts';
import type { Schema } from '../../src/cli/output-schema.ts';
import { commandSchema, readOutputSchemas } from '../../src/cli/output-schema.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';
import { toJson } from '../../src/text/display.ts';

/** `foley help COMMAND --schema` */
export const definition: CommandDefinition<object, Schema> = {
  configure(command) {
    command
      .description(
        'Prints the JSON Schema (2020-12) of what a command prints with --json: its output, its events and its ' +
          'errors. `foley help COMMAND --schema` does the same.',
      )
      .argument('<command...>', 'a command, such as `voices list`')
      .addHelpText('after', '\nExamples:\n  $ foley help tts --schema');
  },
  async run(_context, { args }) {
    const command = await findCommand(args.join(' '));
    const name = command.path.join(' ');
    const schema = commandSchema(await readOutputSchemas(), name);
    if (schema !== undefined) return { data: schema, human: () => toJson(schema, true) };
    const verbs = command.children.map(({ path }) => path.join(' '));
    throw usageFailure(`foley ${name} prints only its help`, `Its commands: ${verbs.join(', ')}.`);
  },
};

// Returns the command that a line calls: for a group with a default subcommand, that subcommand.
async function findCommand(name: string): Promise<DescribedCommand> {
  const { commands } = await readTree();
  const all = everyCommand(commands);
  const found = all.find(({ aliases, path }) =>
    [path.at(-1) ?? '', ...aliases].some((last) => [...path.slice(0, -1), last].join(' ') === name),
  );
  if (found !== undefined) {
    return found.children.find(({ path }) => path.at(-1) === found.fallback) ?? found;
  }
  const names = all.map(({ path }) => path.join(' '));
  const [nearest] = closest(name, names, 1);
  throw usageFailure(
    `unknown command "${name}"`,
    nearest === undefined
      ? 'See `foley --help`.'
      : `Did you mean \`foley help ${nearest} --schema\`?`,
  );
}
