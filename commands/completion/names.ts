import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { RememberedName } from '../../src/cli/known-names.ts';
import { offerable, recallNames } from '../../src/cli/known-names.ts';
import type { KnownName } from '../../src/cli/value-sources.ts';
import { KNOWN_NAMES } from '../../src/cli/value-sources.ts';
import { usageFailure } from '../../src/errors/failure.ts';

/** `foley completion names KIND`, which the scripts call: no service is asked, and nothing is ever wrong. */
export const completionNames: CommandDefinition = {
  configure(command) {
    command
      .description('Prints the names of one kind that foley remembers, for the scripts of shells.')
      .argument('<kind>', KNOWN_NAMES.join(', '));
  },
  async run(context, { args: [given] }) {
    const kind = KNOWN_NAMES.find((name) => name === given);
    if (kind === undefined) {
      throw usageFailure(
        `there are no names of the kind "${given}"; kinds: ${KNOWN_NAMES.join(', ')}`,
      );
    }
    const names = await namesOf(kind, context);
    return {
      data: { items: names, total: names.length },
      human: () => names.map(({ about, name }) => `${name}\t${about}`).join('\n'),
    };
  },
};

async function namesOf(kind: KnownName, context: Context): Promise<RememberedName[]> {
  const { accountsFile, cache, engines } = await context.paths();
  switch (kind) {
    case 'account': {
      const { NO_ACCOUNTS, readAccounts } = await import('../../src/config/accounts.ts');
      const { all } = await readAccounts(context.files, accountsFile).catch(() => NO_ACCOUNTS);
      return [...all].map(([name, { baseUrl }]) => ({ name, about: baseUrl }));
    }
    case 'engine': {
      const { loadEngineRegistrations, registrationsFile } =
        await import('../../src/engines/registrations.ts');
      const added = loadEngineRegistrations(context.files, registrationsFile(engines));
      return (await added.catch(() => [])).map(({ name, version }) => ({ name, about: version }));
    }
    case 'setting': {
      const { SETTING_NAMES, SETTINGS } = await import('../../src/config/setting-definitions.ts');
      return SETTING_NAMES.map((name) => ({ name, about: SETTINGS[name].what }));
    }
    case 'job':
    case 'model':
    case 'voice':
      return recallNames(context.files, cache, kind);
    case 'voice-name': {
      const voices = await recallNames(context.files, cache, 'voice');
      return voices.flatMap(({ about, name }) => offerable(about, name));
    }
  }
}
