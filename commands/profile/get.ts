import { getProfile } from '../../src/api/profile.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { profileFacts } from './profile-words.ts';

/** `foley profile` (contract, section 8; spec sections 2.9 and 4.9). */
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
