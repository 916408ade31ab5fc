import { getProfile } from '../../src/api/resources/profile.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { profileFacts } from './format.ts';

/** `foley profile` (docs/api/account.md). */
export const profileGet: CommandDefinition = {
  configure(command) {
    command.description('Shows the account of the API key: id, tier, credits and quota left.');
  },
  async run(context) {
    const { client } = await context.connect();
    const { value, raw } = await getProfile(client, context.signal);
    return { data: raw, human: (look) => profileFacts(value, look) };
  },
};
